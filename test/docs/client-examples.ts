import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const page = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');
const examplesIn = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code);
export const examples = examplesIn('js');
export const pythonExamples = examplesIn('python');

/** The packages that an example imports name it. */
export const nameOf = (code: string) => [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', ');
export const pythonNameOf = (code: string) =>
  [...code.matchAll(/^from (\S+) import/gm)].map(([, name]) => name).join(', ');

/** What every example prints: the answer of the sandbox, and then perhaps the length of a vector. */
export function assertAnswered(output: string): void {
  const [text = '', ...vectors] = output.trim().split('\n');
  assert.equal(text, 'This is the Switchyard sandbox and no model. You said: When do you open?');
  assert.ok(
    vectors.every((length) => length === '1536'),
    output,
  );
}
