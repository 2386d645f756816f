import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromSqliteWriter, SqlWrite, ToSqliteWriter, WriteAnswer, WriteMessage } from './sqlite-writer.ts';

/** The thread that writes the small SQLite files. `sqlite-writer.ts` starts it. */
interface OpenFile {
  readonly database: DatabaseSync;
  /** Prepared statements by their texts, which the code has, so that they are few. */
  readonly statements: Map<string, StatementSync>;
}

/** At this number of writes the thread answers before it takes further ones, so that the first one does not wait long. */
const maxWritesTogether = 500;
const busyTimeoutMs = 5_000;

const files = new Map<string, OpenFile>();

parentPort?.on('message', handle);

/** Handles messages together with the waiting ones after them. */
function handle(messages: ReadonlyArray<ToSqliteWriter>): void {
  const waiting = [...messages];
  while (waiting.length < maxWritesTogether) {
    const behind = nextMessages();
    if (behind === undefined) break;
    waiting.push(...behind);
  }
  const writes = waiting.filter((message) => message.kind === 'write');
  if (writes.length > 0) answer(writeAll(writes));
  if (writes.length < waiting.length) close();
}

/** Writes what waits for each file in one transaction. @returns the answers, in the order of the messages */
function writeAll(messages: ReadonlyArray<WriteMessage>): FromSqliteWriter {
  const answers = new Map<WriteMessage, WriteAnswer>();
  for (const [, ofFile] of Map.groupBy(messages, ({ file }) => file.path)) {
    for (const [index, answer] of commit(ofFile).entries()) {
      const message = ofFile[index];
      if (message !== undefined) answers.set(message, answer);
    }
  }
  return messages.map(
    (message) => answers.get(message) ?? { kind: 'failed', detail: 'it was not handled', isRefusal: false },
  );
}

/**
 * Commits writes of one file together. If that fails, it commits each alone, so that a failed one does not fail the
 * others.
 */
function commit(messages: ReadonlyArray<WriteMessage>): ReadonlyArray<WriteAnswer> {
  const [first, ...others] = messages;
  if (first === undefined) return [];
  let answers: ReadonlyArray<WriteAnswer>;
  try {
    answers = executeTogether(opened(first), messages);
  } catch (error) {
    if (others.length === 0) return [failed(error)];
    return messages.flatMap((message) => commit([message]));
  }
  // The writes are stored, so a fault of the log must not repeat them.
  return emptiedLog(opened(first), messages, answers);
}

function executeTogether(file: OpenFile, messages: ReadonlyArray<WriteMessage>): ReadonlyArray<WriteAnswer> {
  return inTransaction(file.database, () => messages.map(({ write }) => execute(file, write)));
}

function execute(file: OpenFile, { statements, unless }: SqlWrite): WriteAnswer {
  if (unless !== undefined && prepared(file, unless.sql).get(...unless.values) !== undefined)
    return { kind: 'refused' };
  for (const { sql, rows } of statements) for (const row of rows) prepared(file, sql).run(...row);
  return { kind: 'done' };
}

/** Empties the write-ahead log if a write asks for it. A write whose log is in use fails, although it is stored. */
function emptiedLog(
  { database }: OpenFile,
  messages: ReadonlyArray<WriteMessage>,
  answers: ReadonlyArray<WriteAnswer>,
): ReadonlyArray<WriteAnswer> {
  if (!messages.some(({ write }) => write.emptiesLog)) return answers;
  const fault = emptyLog(database);
  if (fault === null) return answers;
  return answers.map((answer, index) => (messages[index]?.write.emptiesLog ? fault : answer));
}

/** @returns why the log is not empty; null if it is */
function emptyLog(database: DatabaseSync): WriteAnswer | null {
  try {
    const row = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    return row?.busy === 0 ? null : failed(new Error('the file is in use'));
  } catch (error) {
    return failed(error);
  }
}

function opened({ file: { path, isDurable, isZeroed } }: WriteMessage): OpenFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    const zeroed = isZeroed ? 'ON' : 'FAST';
    database.exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}; PRAGMA secure_delete = ${zeroed}`);
  } catch (error) {
    database.close();
    throw error;
  }
  const file = { database, statements: new Map() };
  files.set(path, file);
  return file;
}

function prepared({ database, statements }: OpenFile, sql: string): StatementSync {
  const known = statements.get(sql) ?? database.prepare(sql);
  statements.set(sql, known);
  return known;
}

function failed(error: unknown): WriteAnswer {
  return {
    kind: 'failed',
    detail: error instanceof Error ? error.message : String(error),
    isRefusal: isRefusal(error),
  };
}

/** SQLite's codes for values that it does not take: TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const refusals = new Set([18, 19, 20, 25]);

/** True for an error of the values, so that another try changes nothing. */
function isRefusal(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  // The lowest byte of an extended code is its kind.
  if (typeof errcode === 'number') return refusals.has(errcode & 0xff);
  return /^ERR_(?:INVALID_ARG|OUT_OF_RANGE)/.test(String(code));
}

function nextMessages(): ReadonlyArray<ToSqliteWriter> | undefined {
  return parentPort === null ? undefined : receiveMessageOnPort(parentPort)?.message;
}

function answer(answers: FromSqliteWriter): void {
  parentPort?.postMessage(answers);
}

/** Closes what is open. The thread then ends by itself. */
function close(): void {
  for (const { database } of files.values()) database.close();
  parentPort?.close();
}

/** Does work in a transaction, which is rolled back if the work or the commit throws. @throws what they throw */
function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Some errors, such as a full disk, roll the transaction back themselves.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
