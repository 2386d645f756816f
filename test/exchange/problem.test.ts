import assert from 'node:assert/strict';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { createErrorResponse, type RefusedRequest, sendProblem } from '#exchange/problem.ts';

const control: RefusedRequest = {
  plane: 'control',
  onBothPlanes: false,
  requestId: 'request-1',
  path: '/v1/flows',
  hasBody: true,
};
const gateway: RefusedRequest = { ...control, plane: 'gateway' };
const faults = invalidInput([
  { pointer: '/messages/0/role', message: 'is required' },
  { pointer: '/10/a~1b', message: 'must be a text', input: 7 },
]);
const memberOf = (refused: RefusedRequest, of: Failure, name: string) => createErrorResponse(of, refused).body[name];

/** A hold without bytes, with room for a mebibyte. */
const someRoom = () => new ByteBudget({ maxBytesPerProject: 2 ** 20, maxBytes: 2 ** 20 }).hold('project');

describe('the answer to a refused request of the control plane', () => {
  it('has problem details, with the faults of the input and without its values', () => {
    const { status, contentType, body, retryAfterSeconds } = createErrorResponse(faults, control);
    assert.deepEqual([status, contentType, retryAfterSeconds], [422, 'application/problem+json', null]);
    assert.deepEqual(body, {
      type: '/docs/problems#invalid-input',
      title: 'The input is not valid',
      status: 422,
      detail: faults.detail,
      instance: '/v1/flows',
      code: 'invalid-input',
      requestId: 'request-1',
      errors: [
        { pointer: '/messages/0/role', message: 'is required' },
        { pointer: '/10/a~1b', message: 'must be a text' },
      ],
    });
    const absent = createErrorResponse(failure('flow-not-found', 'No.'), control);
    assert.deepEqual([absent.status, 'errors' in absent.body, 'error' in absent.body], [404, false, false]);
  });

  it('names the query parameter of a fault without a body', () => {
    const query = invalidInput([{ pointer: '/limit', message: 'must be a number' }]);
    assert.deepEqual(memberOf({ ...control, hasBody: false }, query, 'errors'), [
      { pointer: '/limit', parameter: 'limit', message: 'must be a number' },
    ]);
  });

  it('has the error of the gateway’s clients too, where they use the operation', () => {
    assert.deepEqual(memberOf({ ...control, onBothPlanes: true }, failure('file-not-found', 'No.'), 'error'), {
      message: 'No.',
      type: 'invalid_request_error',
      param: null,
      code: 'file_not_found',
    });
  });

  it('says when to try again: after whole seconds, one at least, for limits and what is unavailable', () => {
    const waitOf = (of: Failure) => createErrorResponse(of, control).retryAfterSeconds;
    assert.deepEqual(
      [
        waitOf(failure('rate-limited', 'Slowly.')),
        waitOf(failure('unavailable', 'Down.')),
        waitOf({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 0.01 }),
        waitOf({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 2.1 }),
        waitOf({ ...failure('flow-not-found', 'Not yet.'), retryAfterSeconds: 3 }),
        waitOf(failure('flow-not-found', 'No.')),
      ],
      [1, 1, 1, 3, 3, null],
    );
  });

  it('is sent as a whole by an operation that writes its own response, and is not cached', () => {
    const sent = (of: Failure) => {
      const response = new MemoryResponse(10_000, someRoom());
      sendProblem({ client: response, id: 'request-1' }, of, '/v1/flows');
      return response;
    };
    const waiting = sent({ ...failure('unavailable', 'Down.'), retryAfterSeconds: 2 });
    assert.deepEqual([waiting.status, waiting.isComplete], [503, true]);
    assert.deepEqual(waiting.headers, {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '2',
    });
    const { code, instance, requestId } = JSON.parse(waiting.body.toString());
    assert.deepEqual([code, instance, requestId], ['unavailable', '/v1/flows', 'request-1']);
    assert.equal('retry-after' in sent(failure('flow-not-found', 'No.')).headers, false);
  });
});

describe('the answer to a refused request of the gateway', () => {
  it('has the error that clients of OpenAI read, and the place of each fault', () => {
    const { status, contentType, body } = createErrorResponse(faults, gateway);
    assert.deepEqual([status, contentType], [422, 'application/json']);
    assert.deepEqual(body, {
      detail: [
        { loc: ['body', 'messages', 0, 'role'], msg: 'is required', type: 'missing' },
        { loc: ['body', 10, 'a/b'], msg: 'must be a text', type: 'value_error', input: 7 },
      ],
      error: {
        message: faults.detail,
        type: 'invalid_request_error',
        param: 'messages[0].role',
        code: 'invalid_input',
      },
    });
  });

  it('places a fault without a body in the query, and one without a place in the whole body', () => {
    const query = invalidInput([{ pointer: '/limit', message: 'must be a number' }]);
    assert.deepEqual(memberOf({ ...gateway, hasBody: false }, query, 'detail'), [
      { loc: ['query', 'limit'], msg: 'must be a number', type: 'value_error' },
    ]);
    const broken = failure('malformed-json', 'It is no JSON.');
    assert.deepEqual(memberOf(gateway, broken, 'detail'), [
      { loc: ['body'], msg: 'It is no JSON.', type: 'json_invalid' },
    ]);
    assert.equal('detail' in createErrorResponse(failure('model-not-found', 'No.'), gateway).body, false);
  });

  for (const [code, status, type] of [
    ['key-invalid', 401, 'authentication_error'],
    ['scope-required', 403, 'permission_error'],
    ['model-not-found', 404, 'invalid_request_error'],
    ['rate-limited', 429, 'rate_limit_error'],
    ['internal-error', 500, 'server_error'],
    ['unavailable', 503, 'server_error'],
  ] as const)
    it(`has the status ${status} and the type ${type} for ${code}`, () => {
      const answer = createErrorResponse(failure(code, 'No.'), gateway);
      assert.deepEqual(
        [answer.status, answer.body.error],
        [status, { message: 'No.', type, param: null, code: code.replaceAll('-', '_') }],
      );
    });
});
