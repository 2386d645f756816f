import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { commands } from '#commands/table.ts';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });

describe('commands', () => {
  it('have names that tell them apart', () => {
    const names = commands.map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)]);
  });

  for (const { name } of commands) {
    it(`${name} has a test of its decision`, () => {
      const file = `${name.replaceAll('_', '-')}.test.ts`;
      const found = files.filter((path) => path.endsWith(`/${file}`));
      assert.equal(found.length, 1, `there is no ${file}`);
    });
  }
});
