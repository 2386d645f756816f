import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyCommand } from '#application/commands/command.ts';
import { commands } from '#commands/table.ts';
import type { FailureCode } from '#domain/shared/failure.ts';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });

/** Failures that the pipeline finds before a decision: `execute-command.test.ts` tests them. */
const foundBefore: ReadonlySet<FailureCode> = new Set(['idempotency-key-erased']);

/** The failures that a command's own code can decide. */
function ownFailures({ failures, access: { subject } }: AnyCommand): ReadonlyArray<FailureCode> {
  return failures.filter((code) => code !== subject?.entity.notFound && !foundBefore.has(code));
}

describe('table of commands', () => {
  it('gives every command a unique name', () => {
    const names = commands.map(({ about }) => about.name);
    assert.deepEqual(names, [...new Set(names)]);
  });

  for (const command of commands) {
    it(`has a test for ${command.about.name} that decides it and names each of its failures`, () => {
      const file = `${command.about.name.replaceAll('_', '-')}.test.ts`;
      const [found, ...others] = files.filter((path) => path.endsWith(`/${file}`));
      assert.ok(found !== undefined && others.length === 0, `there is not one ${file}`);
      const text = readFileSync(join(import.meta.dirname, found), 'utf8');
      const identifier = command.about.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      assert.match(text, new RegExp(`when\\(\\s*${identifier}\\b`), `${file} does not decide ${identifier}`);
      assert.match(text, /\bnewEvent\(|\.then\(\s*[a-z]/, `${file} expects no event`);
      const missing = ownFailures(command).filter((code) => !text.includes(`'${code}'`));
      assert.deepEqual(missing, [], `${file} never expects these failures`);
    });
  }
});
