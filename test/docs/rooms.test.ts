import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const orders: Readonly<Record<string, ReadonlyArray<string>>> = createRequire(import.meta.url)(
  join(root, '.dependency-rooms.cjs'),
);

/** Folders of adapters have a rule of their own: none imports another. */
const adapters = new Set(['sqlite', 'mongodb', 'eventstoredb', 'folder', 'gridfs']);

describe('the order of rooms', () => {
  it('has the rooms of each folder in src that has several', () => {
    const rooms = foldersIn('src')
      .map((folder) => [`src/${folder}`, roomsIn(`src/${folder}`)] as const)
      .filter(([, { length }]) => length > 1);
    const ordered = Object.entries(orders).map(([folder, order]) => [folder, order.toSorted()] as const);
    assert.deepEqual(Object.fromEntries(ordered), Object.fromEntries(rooms));
  });
});

function foldersIn(folder: string): ReadonlyArray<string> {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function roomsIn(folder: string): ReadonlyArray<string> {
  return foldersIn(folder)
    .filter((name) => !adapters.has(name))
    .toSorted();
}
