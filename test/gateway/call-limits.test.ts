import assert from 'node:assert/strict';
import type { Caller } from '#domain/tenancy.ts';
import { caller } from '#test/http/fake-service.ts';
import { CallLimits } from '../../src/gateway/call-limits.ts';

const customer: Caller = { ...caller, keyType: 'project', organizationId: 'ccustomer1', partnerId: 'cpartner01' };
const inProject = (projectId: string, more: Partial<Caller> = {}): Caller => ({ ...customer, projectId, ...more });

describe('calls at once', () => {
  const codeOf = async (limits: CallLimits, who: Caller) => (await limits.acquire(who)).refusal?.code ?? null;

  it('are counted by project, whichever key asks', async () => {
    const limits = new CallLimits({ callsAtOnce: 1 });
    assert.equal(await codeOf(limits, inProject('cproject01', { keyId: 'ckey000001' })), null);
    assert.equal(await codeOf(limits, inProject('cproject01', { keyId: 'ckey000002' })), 'too-many-calls');
    assert.equal(await codeOf(limits, inProject('cproject02')), null);
  });

  it('of all projects of an organization are ten times as many at most, until one ends', async () => {
    const limits = new CallLimits({ callsAtOnce: 1 });
    for (let index = 0; index < 10; index += 1) assert.equal(await codeOf(limits, inProject(`cproject${index}`)), null);
    assert.equal(await codeOf(limits, inProject('cproject10')), 'too-many-calls');
    limits.release(inProject('cproject0'));
    assert.equal(await codeOf(limits, inProject('cproject10')), null);
  });

  it('of all customers of a partner are so many times as many at most', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, partnerFactor: 2 });
    assert.equal(await codeOf(limits, inProject('cproject01', { organizationId: 'corg000001' })), null);
    assert.equal(await codeOf(limits, inProject('cproject02', { organizationId: 'corg000002' })), null);
    assert.equal(await codeOf(limits, inProject('cproject03', { organizationId: 'corg000003' })), 'too-many-calls');
    assert.equal(await codeOf(limits, inProject('cproject04', { partnerId: null, organizationId: 'corg4' })), null);
  });

  it('are not counted for a call that its minute refuses', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, requestsPerMinute: 1 });
    assert.equal(await codeOf(limits, customer), null);
    limits.release(customer);
    assert.equal(await codeOf(limits, customer), 'rate-limited');
    limits.configure({ callsAtOnce: 1 });
    assert.equal(await codeOf(limits, customer), null);
  });

  it('of an admin key are not limited', async () => {
    const limits = new CallLimits({ callsAtOnce: 1, requestsPerMinute: 1 });
    for (let time = 0; time < 3; time += 1) assert.equal(await codeOf(limits, { ...caller, keyType: 'admin' }), null);
  });
});
