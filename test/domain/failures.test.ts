import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { type FailureTexts, failureCodes } from '#domain/shared/failure.ts';

const domain = join(import.meta.dirname, '../../src/domain');

/** The codes that the files of the entities describe, a code as often as it occurs. */
async function describedCodes(): Promise<ReadonlyArray<string>> {
  const files = globSync('*/*failures.ts', { cwd: domain });
  const lists = await Promise.all(
    files.map((file) => import(join(domain, file)) as Promise<Record<string, FailureTexts>>),
  );
  return lists.flatMap((list) => Object.values(list)).flatMap((texts) => Object.keys(texts));
}

describe('the failures', () => {
  it('are described next to one entity each', async () => {
    assert.deepEqual((await describedCodes()).toSorted(), failureCodes.toSorted());
  });
});
