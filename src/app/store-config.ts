import { resolve } from 'node:path';
import { textAs } from '#shared/codecs/text.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { type Environment, readVariable } from './environment.ts';

/** One SQLite file. */
export interface SqliteStore {
  readonly kind: 'sqlite';
  /** Absolute. */
  readonly path: string;
}

export type EventStoreConfig =
  | SqliteStore
  /** The address may hold a password: no message shows it. */
  | { readonly kind: 'eventstoredb'; readonly url: string; readonly streamPrefix: string };

export type ReadStoreConfig =
  | SqliteStore
  /** The address may hold a password: no message shows it. */
  | { readonly kind: 'mongodb'; readonly url: string };

export type BlobStoreConfig =
  /** The folder's absolute path. */
  | { readonly kind: 'folder'; readonly path: string }
  /** Blobs in MongoDB. The address may hold a password: no message shows it. */
  | { readonly kind: 'gridfs'; readonly url: string };

export const eventStoreExample = 'esdb://events.example:2113?tls=true';
export const readStoreExample = 'mongodb://documents.example:27017/switchyard';

/** Other applications have streams on the server too. */
export const defaultStreamPrefix = 'switchyard.';

const eventStore = textAs<SqliteStore | { readonly url: string }>(
  'event store',
  'must begin with sqlite:, esdb:// or esdb+discover://',
  (url) => (/^(?:esdb|kurrentdb)(?:\+discover)?:\/\/./.test(url) ? { url } : sqliteOf(url)),
);

const streamPrefixText = textAs<string>('stream prefix', 'must be at most 100 letters, digits and . _ : / -', (text) =>
  /^[\w.:/-]{1,100}$/.test(text) ? text : null,
);

const readStore = textAs<ReadStoreConfig>(
  'read store',
  'must begin with sqlite:, mongodb:// or mongodb+srv://',
  (url) => (isMongoDb(url) ? { kind: 'mongodb', url } : sqliteOf(url)),
);

/** `gridfs` alone means the database of the read store. */
const blobStore = textAs<BlobStoreConfig | 'gridfs'>(
  'blob store',
  'must be gridfs, or begin with folder: or gridfs+mongodb://',
  (text) => {
    if (text === 'gridfs') return text;
    const folder = /^folder:(?:\/\/)?(.+)$/.exec(text)?.[1];
    if (folder !== undefined) return { kind: 'folder', path: resolve(folder) };
    const url = /^gridfs\+(.+)$/.exec(text)?.[1];
    return url !== undefined && isMongoDb(url) ? { kind: 'gridfs', url } : null;
  },
);

/** By default an embedded store. @throws StartupError without the address */
export function readEventStore(environment: Environment, dataDir: string): EventStoreConfig {
  const hint = `Example: EVENT_STORE_URL=${eventStoreExample}`;
  const named = readVariable(environment, { name: 'EVENT_STORE_URL', codec: eventStore, hint, isSecret: true });
  const streamPrefix = readStreamPrefix(environment);
  if (named === undefined) return { kind: 'sqlite', path: resolve(dataDir, 'events.db') };
  return 'kind' in named ? named : { kind: 'eventstoredb', ...named, streamPrefix };
}

/** An empty value means no prefix: streams of older releases have none. */
function readStreamPrefix(environment: Environment): string {
  const name = 'EVENT_STORE_STREAM_PREFIX';
  const byDefault = environment[name] === undefined ? defaultStreamPrefix : '';
  const hint = `Example: ${name}=${defaultStreamPrefix}`;
  return readVariable(environment, { name, codec: streamPrefixText, hint }) ?? byDefault;
}

/** By default an embedded store. @throws StartupError without the address */
export function readReadStore(environment: Environment, dataDir: string): ReadStoreConfig {
  const hint = `Example: READ_STORE_URL=${readStoreExample}`;
  const named = readVariable(environment, { name: 'READ_STORE_URL', codec: readStore, hint, isSecret: true });
  return named ?? { kind: 'sqlite', path: resolve(dataDir, 'read.db') };
}

/**
 * By default files are stored next to the read models, because other nodes cannot read the folder of one node.
 * @throws StartupError without the address
 */
export function readBlobStore(environment: Environment, dataDir: string, documents: ReadStoreConfig): BlobStoreConfig {
  const hint = 'Example: BLOB_STORE_URL=folder:./data/blobs';
  const named = readVariable(environment, { name: 'BLOB_STORE_URL', codec: blobStore, hint, isSecret: true });
  if (named !== undefined && named !== 'gridfs') return named;
  if (documents.kind === 'mongodb') return { kind: 'gridfs', url: documents.url };
  if (named === undefined) return { kind: 'folder', path: resolve(dataDir, 'blobs') };
  throw new StartupError(
    `BLOB_STORE_URL=gridfs keeps files in READ_STORE_URL's database, which is not MongoDB: set that, or name one. Example: BLOB_STORE_URL=gridfs+${readStoreExample}`,
  );
}

/** Null for a store that is not embedded. */
function sqliteOf(text: string): SqliteStore | null {
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  return path === undefined ? null : { kind: 'sqlite', path: resolve(path) };
}

function isMongoDb(url: string): boolean {
  return /^mongodb(?:\+srv)?:\/\/./.test(url);
}
