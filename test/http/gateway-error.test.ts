import assert from 'node:assert/strict';
import { failure } from '#domain/shared/failure.ts';
import { gatewayError } from '#exchange/openai-error.ts';

describe('gatewayError', () => {
  it('makes an error with the four members that OpenAI clients read', () => {
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
    it(`gives the type ${type} to ${code}`, () => {
      const { error, detail } = gatewayError(failure(code, 'So.'), 'body');
      assert.equal((error as { type: string }).type, type);
      assert.equal(detail, undefined);
    });

  it('lists where the input is invalid, and names the first place in OpenAI’s notation', () => {
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

  it('points at the whole body or query when no single member is invalid', () => {
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
