import assert from 'node:assert/strict';
import { chooseMutations, type Source } from './choose.ts';

const count = 40;
const long: Source = { path: 'src/long.ts', text: codeOf(90) };
const short: Source = { path: 'src/short.ts', text: codeOf(30) };

describe('chooseMutations', () => {
  it('chooses the same changes for the same seed, and others for another one', () => {
    const chosen = chooseMutations([long, short], count, 1);
    assert.deepEqual(chooseMutations([long, short], count, 1), chosen);
    assert.notDeepEqual(chooseMutations([long, short], count, 2), chosen);
  });

  it('chooses no change twice, and gives each one its number', () => {
    const chosen = chooseMutations([long, short], count, 1);
    const keys = chosen.map(({ file, operator, leading, original }) => [file, operator, leading, original].join());
    assert.equal(new Set(keys).size, count);
    assert.deepEqual(
      chosen.map(({ id }) => id),
      Array.from({ length: count }, (_, index) => index + 1),
    );
  });

  it('gives a file as many changes as its length earns', () => {
    const files = chooseMutations([long, short], count, 1).map(({ file }) => file);
    assert.equal(files.filter((file) => file === long.path).length, count * 0.75);
  });

  it('leaves out a place that its surroundings do not tell from another one', () => {
    const alike = 'a(1);\n'.repeat(40);
    assert.throws(() => chooseMutations([{ path: 'src/alike.ts', text: alike }], count, 1), /too few changes/);
  });

  it('continues in the next file when a file has no changes left', () => {
    const types: Source = { path: 'src/types.ts', text: 'type A = 1;\n'.repeat(100) };
    assert.deepEqual(new Set(chooseMutations([types, long], 10, 1).map(({ file }) => file)), new Set([long.path]));
  });
});

/** Lines that differ. */
function codeOf(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `export const a${index} = b${index} + ${index};`).join('\n');
}
