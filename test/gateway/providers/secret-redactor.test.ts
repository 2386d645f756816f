import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import { accountTexts, ownTexts } from '#test/gateway/support/account-texts.ts';

const secret = 'sk-pr/oj+Ab12="x y"';
const redactor = new SecretRedactor([secret]);

describe('SecretRedactor', () => {
  const forms: ReadonlyArray<[string, string]> = [
    ['as it is', secret],
    ['in other letters', secret.toUpperCase()],
    ['as a bearer token', `Bearer ${secret}`],
    ['in JSON', JSON.stringify(secret)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(secret))],
    ['in JSON that escapes what it need not', JSON.stringify(secret).replaceAll('/', '\\/').replaceAll('+', '\\u002B')],
    ['percent-encoded', encodeURIComponent(secret)],
    ['in HTML', secret.replaceAll('"', '&#34;').replaceAll('+', '&#x2B;')],
    ...['', 'a', 'ab', 'Bearer ', 'user:'].flatMap((before): [string, string][] => [
      [`in Base64 after ${JSON.stringify(before)}`, Buffer.from(`${before}${secret}`).toString('base64')],
      [
        `in Base64 between ${JSON.stringify(before)} and more`,
        Buffer.from(`${before}${secret}!more`).toString('base64'),
      ],
      [`in Base64 for URLs after ${JSON.stringify(before)}`, Buffer.from(`${before}${secret}`).toString('base64url')],
    ]),
  ];
  for (const [form, text] of forms)
    it(`finds a secret ${form}`, () => {
      const clean = redactor.redact(`before ${text} after`);
      assert.match(clean, /^before .*\[redacted\].* after$/);
      assert.ok(!clean.includes(text));
    });

  it('redacts ids of organizations and projects, and nothing else', () => {
    const text = 'No access for org-AbC_12 in proj_x9: ask sales@example.org, or read the project page';
    const clean = 'No access for [redacted] in [redacted]: ask sales@example.org, or read the project page';
    assert.equal(redactor.redact(text), clean);
    assert.equal(redactor.redact('{"organization":"org-1"}'), '{"organization":"[redacted]"}');
  });

  for (const [provider, text, hidden] of accountTexts)
    it(`redacts what ${provider} says of the account: ${text.slice(0, 60)}`, () => {
      const body = Buffer.from(JSON.stringify({ error: { message: text } }));
      for (const clean of [redactor.redact(text), redactor.redactBody(body).toString()]) {
        for (const id of hidden) assert.ok(!clean.includes(id), clean);
        assert.match(clean, /\[redacted\]/);
      }
      assert.doesNotThrow(() => JSON.parse(redactor.redactBody(body).toString()));
    });

  for (const text of ownTexts)
    it(`leaves a client’s own text: ${text.slice(0, 60)}`, () => {
      const body = Buffer.from(JSON.stringify({ error: { message: text } }));
      assert.equal(redactor.redact(text), text);
      assert.equal(redactor.redactBody(body), body);
    });

  it('redacts members that name an account, and no others', () => {
    const uuid = '9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c';
    const said = {
      error: { message: 'No.', organization_id: uuid, accountId: '308535385114', project_number: 597142158745 },
      user_id: 'user_2abcdefghijklmnopqrstuvwx',
      metadata: { consumer: 'projects/597142158745', request_id: uuid, user_id: 'me', tokens: 123456789012 },
    };
    const redacted = '[redacted]';
    assert.deepEqual(JSON.parse(redactor.redactBody(Buffer.from(JSON.stringify(said, null, 1))).toString()), {
      error: { message: 'No.', organization_id: redacted, accountId: redacted, project_number: redacted },
      user_id: redacted,
      metadata: { consumer: `projects/${redacted}`, request_id: uuid, user_id: 'me', tokens: 123456789012 },
    });
  });

  it('leaves empty members as they are', () => {
    const body = Buffer.from('{"error":{"message":"Invalid value","type":"","param":"","code":"","organization":""}}');
    assert.equal(redactor.redactBody(body), body);
  });

  it('finds an organization after an escaped character', () => {
    for (const before of ['\\n', '%22', '\\u0022'])
      assert.equal(redactor.redact(`${before}org-AbC_12`), `${before}[redacted]`);
  });

  it('finds a short value only as a whole word', () => {
    const short = new SecretRedactor(['eu1']);
    assert.equal(short.redact('eu1 neu1 "eu1" eu12'), '[redacted] neu1 "[redacted]" eu12');
  });

  it('finds the part of a header after its scheme', () => {
    const credentials = Buffer.from('user:pass-word-1').toString('base64');
    const schemes = new SecretRedactor([`Basic ${credentials}`, 'Bearer token-0001']);
    assert.equal(schemes.redact('user:pass-word-1, pass-word-1, token-0001'), '[redacted], [redacted], [redacted]');
  });

  it('keeps JSON valid, with the members that errors have', () => {
    const odd = new SecretRedactor(['message', '12345678', 'error']);
    const body = Buffer.from('{"error" : {"message":"message 12345678","n":12345678, "12345678":["\\u0031\\u00312"]}}');
    const clean = '{"error" : {"message":"[redacted] [redacted]","n":12345678, "[redacted]":["\\u0031\\u00312"]}}';
    assert.equal(odd.redactBody(body).toString(), clean);
    assert.equal(odd.redactBody(Buffer.from('{"a":"\\u0031\\u0032345678"}')).toString(), '{"a":"[redacted]"}');
  });

  it('returns the same bytes when there is nothing to redact', () => {
    for (const text of ['{"error" : {"message" :"caf\\u00e9" } }', 'plain', '']) {
      const body = Buffer.from(text);
      assert.equal(redactor.redactBody(body), body);
    }
  });

  it('leaves no secret in any JSON that holds it', () => {
    const secrets = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }).filter((s) => s.trim() === s);
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (value, before, after) => {
        const body = JSON.stringify({ error: { message: before + value + after } });
        const clean = new SecretRedactor([value]).redactBody(Buffer.from(body)).toString();
        const { message } = (JSON.parse(clean) as { error: { message: string } }).error;
        // The surrounding text may repeat the value's own beginning or end.
        assert.ok(!message.includes(value) || `${before}[redacted]${after}`.includes(value));
      }),
    );
  });

  for (const piece of [
    'organization ',
    'org: id ',
    'account-',
    'a.',
    'a@a.',
    'arn:aws:a:',
    'a-',
    '"account_id" : ',
    'sk-*',
    '/projects/a',
  ])
    it(`redacts ${piece} again and again in time linear in its length`, () => {
      const timeOf = (length: number) => {
        const text = piece.repeat(length / piece.length);
        const tries = Array.from({ length: 3 }, () => {
          const begun = process.cpuUsage();
          redactor.redact(text);
          return process.cpuUsage(begun).user;
        });
        return Math.min(...tries);
      };
      const [short, long] = [timeOf(100_000), timeOf(800_000)];
      // Eight times the length; a quadratic search takes 64 times as long.
      assert.ok(long < 32 * Math.max(short, 5_000), `${short} and ${long} µs`);
    });

  it('redacts unusual texts in time linear in their length', () => {
    const body = Buffer.from(`${'\\'.repeat(500_000)}${'/'.repeat(500_000)}`);
    assert.equal(new SecretRedactor(['/'.repeat(10) + secret]).redactBody(body), body);
  });
});
