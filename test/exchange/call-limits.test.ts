import assert from 'node:assert/strict';
import type { Caller } from '#domain/shared/access.ts';
import { CallLimits } from '#exchange/call-limits.ts';
import { caller } from '#test/http/support/fake-service.ts';

const customer: Caller = { ...caller, keyType: 'project', organizationId: 'ccustomer1', partnerId: 'cpartner01' };
const inProject = (projectId: string, more: Partial<Caller> = {}): Caller => ({ ...customer, projectId, ...more });

describe('CallLimits', () => {
  const codeOf = async (limits: CallLimits, who: Caller) => (await limits.acquire(who)).refusal?.code ?? null;

  it('counts concurrent calls by project, whichever key calls', async () => {
    const limits = new CallLimits({ callsAtOnce: 1 });
    assert.equal(await codeOf(limits, inProject('cproject01', { keyId: 'ckey000001' })), null);
    assert.equal(await codeOf(limits, inProject('cproject01', { keyId: 'ckey000002' })), 'too-many-calls');
    assert.equal(await codeOf(limits, inProject('cproject02')), null);
  });

  it('allows an organization ten times a project’s concurrent calls, until one ends', async () => {
    const limits = new CallLimits({ callsAtOnce: 1 });
    for (let index = 0; index < 10; index += 1) assert.equal(await codeOf(limits, inProject(`cproject${index}`)), null);
    assert.equal(await codeOf(limits, inProject('cproject10')), 'too-many-calls');
    limits.release(inProject('cproject0'));
    assert.equal(await codeOf(limits, inProject('cproject10')), null);
  });

  it('allows a partner a multiple of a project’s concurrent calls', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, partnerFactor: 2 });
    assert.equal(await codeOf(limits, inProject('cproject01', { organizationId: 'corg000001' })), null);
    assert.equal(await codeOf(limits, inProject('cproject02', { organizationId: 'corg000002' })), null);
    assert.equal(await codeOf(limits, inProject('cproject03', { organizationId: 'corg000003' })), 'too-many-calls');
    assert.equal(await codeOf(limits, inProject('cproject04', { partnerId: null, organizationId: 'corg4' })), null);
  });

  it('does not count a call that the rate limit refuses', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, requestsPerMinute: 1 });
    assert.equal(await codeOf(limits, customer), null);
    limits.release(customer);
    assert.equal(await codeOf(limits, customer), 'rate-limited');
    limits.configure({ callsAtOnce: 1 });
    assert.equal(await codeOf(limits, customer), null);
  });

  it('does not limit the calls of an admin key', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, requestsPerMinute: 1 });
    for (let time = 0; time < 3; time += 1) assert.equal(await codeOf(limits, { ...caller, keyType: 'admin' }), null);
  });
});
