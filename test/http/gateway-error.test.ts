import assert from 'node:assert/strict';
import { gatewayError } from '#application/responses/openai-error.ts';
import { failure } from '#domain/shared/failure.ts';

describe('an error of the gateway', () => {
  it('has the four members that clients of OpenAI read', () => {
    assert.deepEqual(gatewayError(failure('rate-limited', 'Slow down.'), 'body'), {
      error: { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limited' },
    });
  });

  for (const [code, type] of [
    ['key-invalid', 'authentication_error'],
    ['scope-required', 'permission_error'],
    ['path-not-found', 'invalid_request_error'],
    ['precondition-failed', 'invalid_request_error'],
    ['internal-error', 'server_error'],
    ['unavailable', 'server_error'],
  ] as const)
    it(`is a ${type} for ${code}`, () => {
      const { error, detail } = gatewayError(failure(code, 'So.'), 'body');
      assert.equal((error as { type: string }).type, type);
      assert.equal(detail, undefined);
    });

  it('tells where the input is wrong, and names the first place as OpenAI does', () => {
    const errors = [
      { pointer: '/messages/0/role', message: 'is required' },
      { pointer: '/a~1b/c~0d', message: 'must be a string', input: 7 },
    ];
    assert.deepEqual(gatewayError(failure('invalid-input', 'Wrong.', { errors }), 'body'), {
      detail: [
        { loc: ['body', 'messages', 0, 'role'], msg: 'is required', type: 'missing' },
        { loc: ['body', 'a/b', 'c~d'], msg: 'must be a string', type: 'value_error', input: 7 },
      ],
      error: { message: 'Wrong.', type: 'invalid_request_error', param: 'messages[0].role', code: 'invalid_input' },
    });
  });

  it('points at the body or the query as a whole where no member is to blame', () => {
    for (const code of ['malformed-json', 'invalid-encoding'] as const)
      assert.deepEqual(gatewayError(failure(code, 'No JSON.'), 'body'), {
        detail: [{ loc: ['body'], msg: 'No JSON.', type: 'json_invalid' }],
        error: { message: 'No JSON.', type: 'invalid_request_error', param: null, code: 'json_invalid' },
      });
    const { detail } = gatewayError(failure('invalid-header', 'Bad header.'), 'query');
    assert.deepEqual(detail, [{ loc: ['query'], msg: 'Bad header.', type: 'invalid_header' }]);
    const errors = [{ pointer: '', message: 'must be a JSON object' }];
    assert.deepEqual(gatewayError(failure('invalid-input', 'No object.', { errors }), 'body'), {
      detail: [{ loc: ['body'], msg: 'must be a JSON object', type: 'value_error' }],
      error: { message: 'No object.', type: 'invalid_request_error', param: null, code: 'invalid_input' },
    });
  });
});
