/** The help text of `npm run events`. */
export const usageText = `Usage: npm run events -- <command>

  export <file>   writes the log to a file that does not exist yet; - is standard output
    --resume      continues an interrupted export
    --unverified  continues after a broken hash chain, and reports where it is; such a file cannot be imported
  import <file>   puts an exported log into a store; - is standard input
  verify          verifies the hash chain of every stream, and decodes every event
    --digests <folder>  and holds the log against the signed digests in a folder
    --key <file>        which this public key (PEM) must have signed; without it DIGEST_SIGNING_KEY and
                        DIGEST_OLD_PUBLIC_KEYS of the service
  archive         moves the metering of past days (streams usage-...) from the log to compressed files in the blob store;
                  their sums stay in the log
    --before <time>     days that end at this time or earlier: 2026-01-06, or 2026-01-06T00:00:00Z
  archives        verifies all these files, and holds them against the sums in the log
  unarchive <day> <file>  writes the metering of a day as an exported log, which import takes into an empty store
  digest          signs a digest of the log now
    --after-restore     begins a new chain of digests, after the log was restored or moved
  digest-key      makes a private key for DIGEST_SIGNING_KEY, and prints it
    --public            prints the public half of DIGEST_SIGNING_KEY instead

  --store <url>   the event store: sqlite:<file> or esdb://...; without it EVENT_STORE_URL, or events.db in DATA_DIR

The file has a line for each event, as it is stored and in the order of the log, a first line that says what it is, and
a last one with the count and a hash, which are the same for the same log on any engine: a file that was cut off or
changed is known. Every event is verified on the way out and in, and decoded on the way in: one whose data is not what
its type has is refused with its line, stream, revision and place.

Export may run beside the service: it ends where the log ended when it began. Import is refused where a service runs on
the embedded store; nothing should write to an EventStoreDB meanwhile. The target must be empty, or hold the first
events of this file: these are compared and kept. So the same command resumes an interrupted import, and a newer export
of the same log adds the new events. A file is verified completely before anything is stored; from standard input each
event is verified before it is stored, and the whole at the end.

Read models and the checkpoints of processes are not moved: a service that is started on the moved log rebuilds its read
models, whatever its read store held, and its processes read every event again, which changes nothing. Personal data is
moved encrypted, as it is stored; its keys are not in the log. Copy them with npm run subject-keys.

With - for a file, use npm run --silent, because npm writes to standard output too.
`;
