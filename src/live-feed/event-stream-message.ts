import type { AuditEntry } from '#application/history/audit-entries.ts';

/** The media type of server-sent events (HTML standard, section 9.2). */
export const eventStreamType = 'text/event-stream';

/** How long a client waits before it opens a broken feed again, in ms. */
const retryMs = 2_000;

/** What a feed begins with: the client knows at once that it is open. */
export const opening = Buffer.from(`: live\nretry: ${retryMs}\n\n`);

/** An audit entry, with its position as the id to resume after. */
export function entryMessage(entry: AuditEntry): string {
  return `id: ${entry.position}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** A comment, which shows that the feed lives, with the position up to which there was nothing more to send. */
export function keepAlive(position: number): Buffer {
  return Buffer.from(`: keep-alive\nid: ${position}\n\n`);
}

/** Why a feed ends, as a comment: its reader resumes after the last id. */
export function ending(reason: string): Buffer {
  return Buffer.from(`: ${reason}\n\n`);
}
