import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { commands } from '#commands/table.ts';

describe('commands', () => {
  it('have names that tell them apart', () => {
    const names = commands.map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)]);
  });

  for (const { name } of commands) {
    it(`${name} has a test of its decision`, () => {
      const file = `${name.replaceAll('_', '-')}.test.ts`;
      const folders = ['flow', 'flow-version', 'phone-number', 'agent-profile', 'project', 'organization', 'api-key'];
      const found = [...folders, 'projection'].filter((folder) =>
        existsSync(new URL(`${folder}/${file}`, import.meta.url)),
      );
      assert.equal(found.length, 1, `there is no ${file}`);
    });
  }
});
