import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { openApiDocument } from '#application/openapi/openapi.ts';
import { DigestRefusedError } from '#digests/digest.ts';
import { writeDigestOperation } from '#digests/write-digest-operation.ts';
import { exampleDigest } from '#domain/history/digest.ts';

const run = (write: ((afterRestore: boolean) => Promise<typeof exampleDigest | null>) | null, input: object = {}) =>
  writeDigestOperation(write === null ? null : { write }).execute({ input } as never);

const refusal = (result: Awaited<ReturnType<typeof run>>) =>
  E.isLeft(result) ? [result.left.code, result.left.detail] : assert.fail('a digest was written');

describe('write_digest', () => {
  it('answers the digest, and begins a new chain only after a restore', async () => {
    const asked: boolean[] = [];
    const write = async (afterRestore: boolean) => {
      asked.push(afterRestore);
      return exampleDigest;
    };
    assert.deepEqual(await run(write), E.right({ status: 200, body: exampleDigest }));
    await run(write, { afterRestore: true });
    assert.deepEqual(asked, [false, true]);
  });

  it('says why there is no digest: an empty log, no key, or digests that were altered', async () => {
    assert.deepEqual(refusal(await run(async () => null)), ['no-digest', 'The log is empty.']);
    assert.match(refusal(await run(null)).join(), /^no-digest,.*DIGEST_SIGNING_KEY is not set/);
    const altered = async () => {
      throw new DigestRefusedError('The folder was altered.');
    };
    assert.deepEqual(refusal(await run(altered)), ['digest-refused', 'The folder was altered.']);
    await assert.rejects(
      run(async () => assert.fail('a defect')),
      /a defect/,
    );
  });

  it('promises no revision, because its answer has none', () => {
    const document = JSON.parse(JSON.stringify(openApiDocument([writeDigestOperation(null)], '0.5.0')));
    const { parameters = [], responses } = document.paths['/v1/digests'].post;
    const names = (parameters as ReadonlyArray<{ readonly $ref?: string; readonly name?: string }>).map(
      ({ $ref, name }) => $ref ?? name ?? '',
    );
    assert.deepEqual(
      names.filter((name) => /if-?match/i.test(name)),
      [],
    );
    assert.equal('ETag' in (responses['200'].headers ?? {}), false);
    assert.equal('412' in responses, false);
  });
});
