import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as t from 'io-ts';
import { jsonSchema } from '#application/operations/json-schema.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { upcasters } from '#domain/upcasters.ts';
import { newestVersion } from '#event-store/recorded-event.ts';
import { DeclarationReader } from './source-declarations.ts';

/** What this release stores, each with a hash of its shape. */
export type StoredShapes = Readonly<Record<string, string>>;

const root = resolve(import.meta.dirname, '../../..');

/** Shapes in records and sealed texts whose names do not begin with `Stored`. */
const namedShapes: ReadonlyArray<readonly [file: string, name: string]> = [
  ['src/app/read-only.ts', 'AsOf'],
  ['src/domain/history/digest.ts', 'Digest'],
  ['src/domain/history/verification.ts', 'LogVerification'],
  ['src/domain/event-codecs.ts', 'eventMetadataCodec'],
  ['src/domain/usage/recorded-call.ts', 'RecordedCall'],
  ['src/positions/position-poll.ts', 'ProcessesRecord'],
  ['src/read-store/notes.ts', 'PublishedRecord'],
  ['src/read-store/read-store.ts', 'OperatorState'],
  ['src/records/record-store.ts', 'RecordKind'],
  ['src/responses/provider-copies.ts', 'ProviderCopy'],
  ['src/responses/turn.ts', 'Turn'],
];

/** Returns the shapes of everything that this release stores, on both pairs of stores. */
export function storedShapes(): StoredShapes {
  const declarations = new DeclarationReader();
  const sources = sourcesOf('src');
  const shapes: Array<readonly [string, string]> = [
    ...eventShapes(),
    ...streamKinds.map((kind) => [`stream kind ${kind}`, kind] as const),
    ...sources.flatMap((path) => tablesIn(path)),
    ...sources.filter(isOfMongoDb).flatMap((path) => collectionsIn(path)),
    ...sources.flatMap((path) =>
      shapeNames(path, declarations).map((name) => [`shape ${name}`, declarations.wholeTextOf(path, name)] as const),
    ),
    ...namedShapes.map(([path, name]) => [`shape ${name}`, declarations.wholeTextOf(path, name)] as const),
  ];
  // A file may move, so its path is no part of a name. Some names are in several files.
  const byName = Map.groupBy(shapes, ([name]) => name);
  const hashed = [...byName].map(([name, found]) => [name, hashOf(found.map(([, text]) => text).sort())] as const);
  return Object.fromEntries(hashed.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function eventShapes(): ReadonlyArray<readonly [string, string]> {
  return Object.entries(eventCodecs).map(([type, codec]) => [
    `event ${type} ${newestVersion(upcasters, type)}`,
    schemaOf(codec),
  ]);
}

function schemaOf(codec: t.Mixed): string {
  try {
    return JSON.stringify(jsonSchema(codec));
  } catch {
    // Only what callers see needs a schema. The name of an unnamed codec has its members.
    return codec.name;
  }
}

const statement = /\b(?:CREATE (?:UNIQUE )?(?:TABLE|INDEX)|ALTER TABLE)\b[^;`]*/g;
const nameOfStatement = /(?:TABLE|INDEX)(?: IF NOT EXISTS)? ([^\s(]+(?: ADD COLUMN \w+)?)/;

/** The statements of a file that make tables, columns and indexes. */
function tablesIn(path: string): ReadonlyArray<readonly [string, string]> {
  const found = textOf(path).match(statement) ?? [];
  return found.map((sql) => {
    const text = sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ').trim();
    return [`table ${nameOfStatement.exec(text)?.[1] ?? text}`, text] as const;
  });
}

const collection =
  /new LogCollection[^(]*\([^,]+,\s*(?<log>'[^']+', \[.*?\]\))|\.collection(?:<[^()]*>)?\((?<named>['`][^)]*)\)|(?<index>createIndex\([^)]*\))|const \w+Name = (?<name>'[^']+')/gs;

/** The collections and indexes of a file. */
function collectionsIn(path: string): ReadonlyArray<readonly [string, string]> {
  return [...textOf(path).matchAll(collection)].map(({ groups = {} }) => {
    const text = (groups.log ?? groups.named ?? groups.index ?? groups.name ?? '').replaceAll(/\s+/g, ' ');
    return [`collection ${/['`]([^'`]*)/.exec(text)?.[1] ?? text}`, text] as const;
  });
}

/** The declarations of a file that are documents of MongoDB, or named as stored. */
function shapeNames(path: string, declarations: DeclarationReader): ReadonlyArray<string> {
  if (path.startsWith('src/gateway/') || path.startsWith('src/dashboard/')) return [];
  if (!isOfMongoDb(path) && !/\bStored[A-Z]/.test(textOf(path))) return [];
  return declarations.namesIn(path).filter((name) => {
    if (/^Stored[A-Z](?!\w*Options$)/.test(name)) return true;
    return isOfMongoDb(path) && /^[A-Z]\w*(?:Document|Record)$/.test(name);
  });
}

function isOfMongoDb(path: string): boolean {
  return /(?:\/mongodb\/|\.(?:mongodb|gridfs)\.ts$)/.test(path);
}

function sourcesOf(folder: string): ReadonlyArray<string> {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

const texts = new Map<string, string>();

function textOf(path: string): string {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

function hashOf(shape: ReadonlyArray<string>): string {
  return createHash('sha256').update(shape.join('\n')).digest('hex').slice(0, 16);
}
