import assert from 'node:assert/strict';
import { createDnsResolver, createSystemResolver, HostNotFoundError } from '#webhooks/url-guard.ts';

type Answer = ReadonlyArray<string> | string;

const answerOf = async (answer: Answer) => {
  if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
  return answer;
};

/** Resolves a host for which the name servers have these addresses, or fail with these codes. */
const resolved = (four: Answer, six: Answer) =>
  createDnsResolver({ resolve4: () => answerOf(four), resolve6: () => answerOf(six) })('host.example');

describe('createDnsResolver', () => {
  it('finds the addresses of both families, each with its family', async () => {
    assert.deepEqual(await resolved(['192.0.2.1', '192.0.2.2'], ['2001:db8::1']), [
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
  });

  it('finds a host that has addresses of one family, even while the other lookup fails', async () => {
    assert.deepEqual(await resolved('ENODATA', ['2001:db8::1']), [{ address: '2001:db8::1', family: 6 }]);
    assert.deepEqual(await resolved(['192.0.2.1'], 'ETIMEOUT'), [{ address: '192.0.2.1', family: 4 }]);
  });

  it('says that a host has no address only if the name servers say so for both families', async () => {
    for (const code of ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EAI_NONAME', 'EAI_NODATA'])
      await assert.rejects(resolved(code, 'ENODATA'), HostNotFoundError, code);
    await assert.rejects(resolved('ENODATA', 'ETIMEOUT'), { code: 'ETIMEOUT' });
    await assert.rejects(resolved('ECONNREFUSED', 'ENODATA'), { code: 'ECONNREFUSED' });
    await assert.rejects(resolved([], []), /host\.example has no address/);
  });
});

describe('createSystemResolver', () => {
  it('asks the operating system for a name that only it knows', async () => {
    const resolve = createSystemResolver(async (host) => assert.fail(new HostNotFoundError(host)));
    const addresses = await resolve('localhost');
    assert.ok(addresses.length > 0);
    for (const { address, family } of addresses) assert.equal(family, address.includes(':') ? 6 : 4);
  });

  it('takes the answer of the name servers, and their error if the operating system knows no more', async () => {
    const found = [{ address: '192.0.2.1', family: 4 as const }];
    assert.deepEqual(await createSystemResolver(async () => found)('localhost'), found);
    const silent = Object.assign(new Error('queryA ETIMEOUT'), { code: 'ETIMEOUT' });
    const resolve = createSystemResolver(async () => Promise.reject(silent));
    await assert.rejects(resolve('no host has this name.invalid'), { code: 'ETIMEOUT' });
  });
});
