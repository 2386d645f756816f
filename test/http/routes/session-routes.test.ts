import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { SessionCookie } from '#http/request/session-cookie.ts';
import { sessionRoutes } from '#http/routes/session-routes.ts';
import { caller, type FakeService, goodKey, startFakeService } from '#test/http/support/fake-service.ts';

const perMinute = 2;
const holder: Caller = { ...caller, keyType: 'project' };

describe('The sign-in of the dashboard', () => {
  let service: FakeService;
  let opened: number;
  let open: () => Promise<string | null>;
  let answers: ByteBudget;

  beforeEach(async () => {
    opened = 0;
    open = async () => 'x'.repeat(43);
    const admission = new Admission({ limits: { requests: { perMinute } } });
    answers = admission.budgets.answer;
    const publicRoutes = sessionRoutes({
      sessions: {
        open: async () => {
          opened += 1;
          return open();
        },
        end: async () => undefined,
      },
      cookie: new SessionCookie(null),
      authenticate: async (key) => (key === goodKey ? holder : null),
      admission,
      logger: { error: () => undefined, warn: () => undefined, info: () => undefined },
    });
    service = await startFakeService({ publicRoutes });
  });
  afterEach(() => service.stop());

  const signIn = (key: string) =>
    fetch(`${service.url}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'switchyard-session': '1' },
    });

  it('counts in the rate limit of the project of its key', async () => {
    for (let number = 0; number < perMinute; number += 1) {
      const answer = await signIn(goodKey);
      assert.deepEqual(await answer.json(), { isKept: true });
      assert.match(answer.headers.get('ratelimit') ?? '', /^"project";r=/);
    }
    const refused = await signIn(goodKey);
    const { code } = (await refused.json()) as { code: string };
    assert.deepEqual([refused.status, code, opened], [429, 'rate-limited', perMinute]);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
  });

  it('takes a place among the answers of its project until it is answered', async () => {
    const hold = answers.hold(holder.projectId);
    hold.resize(answers.maxBytesPerProject);
    const refused = await signIn(goodKey);
    const { code } = (await refused.json()) as { code: string };
    assert.deepEqual([refused.status, code, opened], [429, 'too-many-answer-bytes', 0]);
    hold.release();
    assert.equal((await signIn(goodKey)).status, 200);
  });

  it('refuses the unknown keys of an address after sixty in a minute, and a known key never', async () => {
    for (let number = 0; number < 60; number += 1) assert.equal((await signIn(`unknown-${number}`)).status, 401);
    const refused = await signIn('unknown');
    const { code } = (await refused.json()) as { code: string };
    assert.deepEqual([refused.status, code], [429, 'rate-limited']);
    assert.equal((await signIn(goodKey)).status, 200);
  });
});
