import * as E from 'fp-ts/lib/Either.js';
import { inputErrors } from '#application/operations/input-errors.ts';
import type { BlobStore, ListedBlob } from '#blob-store/blob-store.ts';
import { partBlobPrefix } from '#domain/batch/batch.ts';
import { eventCodecs } from '#domain/shared/event-codecs.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import { describeUndecodable, InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { pagesOf, type RawEvent, type RawLog } from '#event-store/transfer/raw-log.ts';
import { UpcastFailure, upcastWith } from '#event-store/upcasting.ts';
import { fileBlobPrefix } from './file-uploads.ts';
import { concernsBlobs, type Orphan, OrphanSearch } from './orphan-search.ts';

/** Receives how far a step is. @param fraction of the whole, from 0 to 1; null where the whole is not known */
type Report = (done: number, fraction: number | null) => void;

export interface BlobSweepOptions {
  readonly blobs: Pick<BlobStore, 'list' | 'delete'>;
  readonly eventLog: RawLog;
  readonly now: () => Date;
  /** Asks for the end. */
  readonly signal: AbortSignal;
}

/** Other content has other prefixes, and is not the sweep's. */
const sweptPrefixes = [fileBlobPrefix, partBlobPrefix];

/**
 * A younger blob may be one that its event will name next. No upload, and no recording of a part, takes nearly as long
 * from the blob to its event.
 */
const minAgeMs = 24 * 60 * 60 * 1_000;

/** Blobs removed between two looks at what the log has got meanwhile. */
const removedAtOnce = 100;

const upcast = upcastWith(upcasters);

/** Finds and removes the blobs of files and batches that nobody needs. The service may run meanwhile. */
export class BlobSweep {
  readonly #options: BlobSweepOptions;
  readonly #search: OrphanSearch;
  /** Up to where the log was read. */
  #position = 0;

  private constructor(options: BlobSweepOptions, candidates: Iterable<ListedBlob>) {
    this.#options = options;
    this.#search = new OrphanSearch(candidates);
  }

  /**
   * Lists the blobs that are older than 24 hours, and only then reads the log: so each is judged by every event of the
   * hours since it was stored.
   * @throws UnavailableError; LogError for an event that cannot be read; InterruptedError
   */
  static async find(options: BlobSweepOptions, onListed: Report, onRead: Report): Promise<BlobSweep> {
    const candidates: ListedBlob[] = [];
    const storedBefore = options.now().getTime() - minAgeMs;
    let listed = 0;
    for (const prefix of sweptPrefixes) {
      for await (const blob of options.blobs.list(prefix)) {
        if (blob.storedAt.getTime() < storedBefore) candidates.push(blob);
        listed += 1;
        onListed(listed, null);
        checkInterrupted(options.signal);
      }
    }
    const sweep = new BlobSweep(options, candidates);
    await sweep.#readOn(onRead);
    return sweep;
  }

  /** How many blobs are older than 24 hours, and how many of them the log has ever named. */
  get judged(): { readonly old: number; readonly named: number } {
    return { old: this.#search.size, named: this.#search.named };
  }

  /** Those that nobody needs. */
  orphans(): ReadonlyArray<Orphan> {
    return this.#search.orphans();
  }

  /**
   * Removes those that nobody needs, and gives each once it is removed. After a day without the event store an event may
   * name one only now: so the log is read on before each hundred.
   * @throws UnavailableError, LogError, InterruptedError; what was removed until then stays so
   */
  async *remove(): AsyncGenerator<Orphan, void, void> {
    const orphans = this.orphans();
    for (const [index, orphan] of orphans.entries()) {
      checkInterrupted(this.#options.signal);
      if (index % removedAtOnce === 0) await this.#readOn(() => undefined);
      if (!this.#search.isOrphan(orphan.id)) continue;
      await this.#options.blobs.delete(orphan.id);
      yield orphan;
    }
  }

  async #readOn(report: Report): Promise<void> {
    const { eventLog, signal } = this.#options;
    const end = await eventLog.lastPosition();
    let events = 0;
    for await (const page of pagesOf(eventLog, end, this.#position)) {
      for (const event of page) if (concernsBlobs(event.type)) this.#search.take(decoded(event));
      this.#position = page.at(-1)?.position ?? end;
      events += page.length;
      report(events, this.#position / end);
      checkInterrupted(signal);
    }
  }
}

function checkInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new InterruptedError('stopped; what was removed until then stays so.');
}

/** @throws LogError: where it is not known what an event names, nothing may be removed */
function decoded(event: RawEvent): { readonly type: string; readonly data: unknown } {
  const { type, data, metadata } = event;
  try {
    const { schemaVersion } = JSON.parse(metadata) as { schemaVersion: number };
    const read = eventCodecs[type]?.decode(upcast(type, schemaVersion, JSON.parse(data)));
    if (read !== undefined && E.isRight(read)) return { type, data: read.right };
    const [fault] = read === undefined ? [] : inputErrors(read.left);
    throw new LogError(describeUndecodable(event, `${fault?.pointer} ${fault?.message}`));
  } catch (error) {
    if (!(error instanceof UpcastFailure || error instanceof SyntaxError)) throw error;
    throw new LogError(describeUndecodable(event, error.message));
  }
}
