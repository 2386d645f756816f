import assert from 'node:assert/strict';
import { goodKey, startFakeService, widgetId } from './support/fake-service.ts';

interface ErrorBody {
  readonly detail: string;
  readonly errors?: ReadonlyArray<object>;
}

describe('unknown and invalid input over HTTP', () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;

  before(async () => {
    service = await startFakeService();
  });
  after(() => service.stop());

  const ask = async (
    method: string,
    path: string,
    body: string | null = null,
    prefer: string | null = 'handling=strict',
  ) => {
    const headers = {
      'x-api-key': goodKey,
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(prefer !== null && { prefer }),
    };
    const answer = await fetch(service.url + path, { method, headers, body });
    return {
      status: answer.status,
      applied: answer.headers.get('preference-applied'),
      ignored: answer.headers.get('switchyard-ignored'),
      body: (await answer.json()) as ErrorBody,
    };
  };
  const widgets = `/v1/projects/${widgetId}/widgets`;
  const widget = { name: 'cog', shape: { any: { thing: 1 } } };

  it('refuses unknown members of a body and unknown query parameters with Prefer: handling=strict', async () => {
    const body = JSON.stringify({ ...widget, nope: 1, projectId: widgetId, parts: [{ size: 1, nope: 2 }] });
    const { status, body: problem } = await ask('POST', `${widgets}?limit=1`, body, 'respond-async, handling="strict"');
    assert.equal(status, 422);
    assert.deepEqual(problem.errors, [
      { pointer: '/limit', parameter: 'limit', message: 'is unknown' },
      { pointer: '/nope', message: 'is unknown' },
      { pointer: '/projectId', message: 'is unknown' },
      { pointer: '/parts/0/nope', message: 'is unknown' },
    ]);
    assert.equal(
      problem.detail,
      'The query parameter limit is unknown; /nope is unknown; /projectId is unknown; and 1 more.',
    );
    const listed = await ask('GET', `${widgets}?limit=1&nope=1`);
    assert.deepEqual([listed.status, listed.body.detail], [422, 'The query parameter nope is unknown.']);
  });

  it('names the other faults of the input before the unknown members', async () => {
    const { body } = await ask('POST', widgets, '{"nope":1,"name":"","shape":{"any":{"thing":1}}}');
    assert.equal(body.detail, '/name must have at least 1 character; /nope is unknown.');
  });

  it('names dryRun as a query parameter', async () => {
    const { body } = await ask('POST', `${widgets}?dryRun=maybe`, JSON.stringify(widget), null);
    assert.deepEqual(body.errors, [{ pointer: '/dryRun', parameter: 'dryRun', message: 'must be true or false' }]);
  });

  it('reports in Preference-Applied that it applied the preference', async () => {
    const created = await ask('POST', `${widgets}?dryRun=false`, JSON.stringify(widget));
    assert.deepEqual([created.status, created.applied], [201, 'handling=strict']);
    const listed = await ask('GET', `${widgets}?limit=1`);
    assert.deepEqual([listed.status, listed.applied], [200, 'handling=strict']);
  });

  it('names in Switchyard-Ignored what it leaves out, in refusals too', async () => {
    const body = { ...widget, budget: 1, parts: [{ size: 1 }, { size: 1, nope: 2 }] };
    const created = await ask('POST', `${widgets}?nam=1`, JSON.stringify(body), null);
    assert.deepEqual([created.status, created.ignored], [201, '?nam, /budget, /parts/*/nope']);
    const refused = await ask('POST', widgets, JSON.stringify({ nam: 'cog', shape: widget.shape }), null);
    assert.deepEqual([refused.status, refused.ignored], [422, '/nam']);
    const listed = await ask('GET', `${widgets}?limit=1&nam=x`, null, null);
    assert.deepEqual([listed.status, listed.ignored], [200, '?nam']);
    assert.equal((await ask('GET', `${widgets}?limit=1`, null, null)).ignored, null);
    assert.equal((await ask('POST', widgets, JSON.stringify(widget), null)).ignored, null);
    assert.equal((await ask('POST', widgets, JSON.stringify({ ...widget, budget: 1 }))).ignored, null);
  });

  it('ignores unknown members and parameters without that preference', async () => {
    for (const prefer of [null, 'handling=lenient', 'handling=stricter']) {
      const created = await ask('POST', `${widgets}?nope=1`, JSON.stringify({ ...widget, nope: 1 }), prefer);
      assert.deepEqual([created.status, created.applied], [201, null], String(prefer));
    }
  });

  it('names at most three faults in the detail, and counts the others', async () => {
    const three = await ask('POST', widgets, '{"name":"","finish":"x"}', null);
    const named = '/name must have at least 1 character; /shape is required; /finish must be one of "matt", "gloss".';
    assert.deepEqual([three.status, three.body.detail], [422, named]);
    const four = await ask('POST', widgets, '{"name":"","finish":"x","colour":1}', null);
    assert.match(four.body.detail, /^\/name [^;]+; [^;]+; [^;]+; and 1 more\.$/);
  });

  it('calls a query parameter a query parameter in the detail', async () => {
    const { status, body } = await ask('GET', `${widgets}?limit=0`, null, null);
    assert.equal(status, 422);
    assert.match(body.detail, /^The query parameter limit must be /);
    assert.deepEqual(
      body.errors?.map((error) => Object.keys(error)),
      [['pointer', 'parameter', 'message']],
    );
    const twice = await ask('GET', `${widgets}?limit=1&limit=2`, null, null);
    assert.equal(twice.body.detail, 'The query parameter limit must be given once.');
  });

  it('names the line and column of malformed JSON on both planes', async () => {
    const malformed = '{"name": "cog",\n "shape": }';
    const control = await ask('POST', widgets, malformed, null);
    assert.deepEqual([control.status, control.body.detail], [400, 'The body is not JSON (line 2, column 11).']);
    const gateway = await ask('POST', '/v1/chat/completions', malformed, null);
    const { error } = gateway.body as unknown as { error: { message: string } };
    assert.deepEqual([gateway.status, error.message], [422, 'The body is not JSON (line 2, column 11).']);
  });
});
