import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { openTurns, packTurns, type SealedTurns } from './open-turns.ts';
import type { RowsOfFile, TurnsReply, TurnsRequest } from './turn-thread.ts';

const busyTimeoutMs = 5_000;

/** The opened databases by their paths, which are few: one for each store. */
const databases = new Map<string, DatabaseSync>();

parentPort?.on('message', (request: TurnsRequest) => {
  const reply = replyTo(request);
  parentPort?.postMessage(reply, 'turns' in reply ? [reply.turns.bytes.buffer, reply.turns.marks.buffer] : []);
});

function replyTo({ number, sealed, opening }: TurnsRequest): TurnsReply {
  try {
    const contents = 'file' in sealed ? readContents(sealed) : sealed.contents;
    return { number, turns: packTurns(openTurns(contents, opening)) };
  } catch (error) {
    return { number, detail: error instanceof Error ? error.message : String(error) };
  }
}

function readContents({ file, projectId, ids }: RowsOfFile): SealedTurns {
  const database = databases.get(file.path) ?? new DatabaseSync(file.path, { readOnly: true, timeout: busyTimeoutMs });
  databases.set(file.path, database);
  const rows = database.prepare(file.contentsSql).all(projectId, JSON.stringify(ids));
  return rows.map(({ id, content }) => [String(id), String(content)]);
}
