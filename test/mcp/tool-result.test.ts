import assert from 'node:assert/strict';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { failureResult, successResult } from '#mcp/tools/tool-result.ts';
import { operations } from './support/operation-tools.ts';

const operation = (name: string) => operations.find((each) => each.name === name) ?? assert.fail(name);

const textsOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => (block as { readonly text: string }).text);

describe('the result of a refused tool call', () => {
  const errors = [
    { pointer: '/name', message: 'is required' },
    { pointer: '', message: 'must be an object' },
  ];
  const refused: Failure = { ...failure('invalid-input', 'Two faults.'), errors };

  it('names each fault of the input, for the model and for programs', () => {
    const { isError, content, _meta } = failureResult(refused, 'request-1');
    assert.equal(isError, true);
    assert.deepEqual(textsOf({ content })[0]?.split('\n'), [
      'invalid-input (422): The input is not valid. Two faults.',
      '- /name is required',
      '- The input must be an object',
      'What to do: correct the arguments, then call again.',
    ]);
    assert.deepEqual(_meta?.['switchyard/problem'], {
      code: 'invalid-input',
      status: 422,
      title: 'The input is not valid',
      detail: 'Two faults.',
      requestId: 'request-1',
      errors,
    });
  });

  const advice = (of: Failure) => textsOf(failureResult(of, 'request-1'))[0]?.split('\n').at(-1);

  it('says how long to wait, at least a second, when waiting helps', () => {
    const wait = (seconds: number) => `What to do: wait ${seconds} s, then make the same call again.`;
    assert.equal(advice(failure('unavailable', 'Down.')), wait(1));
    assert.equal(advice({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 0.2 }), wait(1));
    assert.equal(advice({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 7.1 }), wait(8));
    const { _meta } = failureResult({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 7 }, 'request-1');
    const problem = _meta?.['switchyard/problem'] as { readonly retryAfterSeconds?: number; readonly errors?: unknown };
    assert.deepEqual([problem.retryAfterSeconds, 'errors' in problem], [7, false]);
  });

  for (const [code, words] of [
    ['scope-required', /use a key that may do this/],
    ['flow-not-found', /check the id/],
    ['flow-in-use', /remove what prevents the change/],
    ['body-too-large', /What to do: send less/],
    ['precondition-failed', /send its revision as ifMatch/],
    ['internal-error', /give the operator the request id request-1\.$/],
  ] as const)
    it(`says what to do about ${code}`, () => {
      assert.match(advice(failure(code, 'No.')) ?? '', words);
    });
});

describe('the result of a tool call that succeeded', () => {
  const flow = { id: 'cflowone00000001', name: 'Nights' };

  it('has the revision and the position of the answer, for programs', () => {
    const { _meta } = successResult(
      operation('update_flow'),
      { status: 200, body: flow, revision: 3, position: 7 },
      false,
    );
    assert.deepEqual(_meta, { 'switchyard/revision': 3, 'switchyard/position': 7 });
    assert.deepEqual(successResult(operation('get_flow'), { status: 200, body: flow }, false)._meta, {});
  });

  it('says what was done, with the id and the revision to change exactly this', () => {
    const result = { status: 200, body: flow, revision: 3 } as const;
    assert.deepEqual(textsOf(successResult(operation('update_flow'), result, false)), [
      `Done: ${operation('update_flow').summary}. Id ${flow.id}. Revision 3: send it as ifMatch to change exactly this.`,
    ]);
  });

  it('counts the items of a list, and says when there are more', () => {
    const summaryOf = (flows: ReadonlyArray<object>, nextCursor?: string) =>
      textsOf(
        successResult(
          operation('list_flows'),
          { status: 200, body: { flows } as never, ...(nextCursor === undefined ? {} : { nextCursor }) },
          false,
        ),
      )[0];
    const { summary } = operation('list_flows');
    assert.equal(summaryOf([]), `${summary}. 0 items.`);
    assert.equal(summaryOf([flow]), `${summary}. 1 item.`);
    assert.equal(
      summaryOf([flow, flow], 'c1'),
      `${summary}. 2 items. There are more: call again with nextCursor as cursor.`,
    );
  });

  it('counts no items of a resource, and none of an answer with several lists or none', () => {
    const summaryOf = (name: string, body: object | null) =>
      textsOf(successResult(operation(name), { status: 200, body: body as never }, false))[0];
    const { summary } = operation('get_flow');
    assert.equal(summaryOf('get_flow', { ...flow, tags: ['a'] }), `${summary}. Id ${flow.id}.`);
    assert.equal(summaryOf('get_flow', { some: [1], others: [2] }), `${summary}.`);
    assert.equal(summaryOf('get_flow', { some: [1], count: 2 }), `${summary}. 1 item.`);
    assert.equal(summaryOf('get_flow', { count: 2 }), `${summary}.`);
    assert.equal(summaryOf('get_flow', null), `${summary}.`);
  });

  it('has an answer that is no object as the member result of one', () => {
    const bare = { ...operation('get_flow'), output: null };
    assert.deepEqual(successResult(bare, { status: 204, body: undefined }, false).structuredContent, { result: null });
  });

  it('takes no member dryRun of a query’s answer for a dry run', () => {
    const { summary } = operation('get_flow');
    const body = { dryRun: true, events: [] } as never;
    assert.equal(
      textsOf(successResult(operation('get_flow'), { status: 200, body }, false))[0],
      `${summary}. 0 items.`,
    );
  });

  it('has the whole answer as text for clients that read no structured content', () => {
    const { content, structuredContent } = successResult(operation('get_flow'), { status: 200, body: flow }, true);
    assert.deepEqual(structuredContent, flow);
    assert.deepEqual(JSON.parse(textsOf({ content })[1] ?? ''), flow);
    assert.equal(successResult(operation('get_flow'), { status: 200, body: flow }, false).content.length, 1);
  });

  it('says what a dry run would do, or that it would change nothing', () => {
    const tried = (events: ReadonlyArray<object>) =>
      textsOf(
        successResult(operation('update_flow'), { status: 200, body: { dryRun: true, events } as never }, false),
      )[0];
    const { summary } = operation('update_flow');
    assert.equal(
      tried([{ summary: 'It is renamed.' }, { summary: 'It is moved.' }]),
      `Tried: ${summary}. Nothing was changed. It would: It is renamed. It is moved.`,
    );
    assert.equal(tried([]), `Tried: ${summary}. Nothing was changed. It would change nothing.`);
  });
});
