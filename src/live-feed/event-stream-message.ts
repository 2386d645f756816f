import type { AuditEntry } from '#application/history/audit-entries.ts';

/** The media type of server-sent events (HTML standard, section 9.2). */
export const eventStreamType = 'text/event-stream';

/** How long a client waits before it opens a broken feed again, in ms. */
const retryMs = 2_000;

/** The beginning of a feed, with which the client knows at once that it is open. */
export const opening = Buffer.from(`: live\nretry: ${retryMs}\n\n`);

/** Returns the message of an audit entry. Its id is the position after which to resume. */
export function entryMessage(entry: AuditEntry): string {
  return `id: ${entry.position}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** Returns a comment that shows that the feed is alive, with the position up to which everything was sent. */
export function keepAlive(position: number): Buffer {
  return Buffer.from(`: keep-alive\nid: ${position}\n\n`);
}

/** A comment that shows that the feed is alive while earlier entries are on their way. */
export const comment = Buffer.from(': keep-alive\n\n');

/** Returns a comment that says why a feed ends. Its reader resumes after the last id. */
export function ending(reason: string): Buffer {
  return Buffer.from(`: ${reason}\n\n`);
}
