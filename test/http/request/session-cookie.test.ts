import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { SessionCookie } from '#http/request/session-cookie.ts';

const token = 'a'.repeat(43);
type Headers = Readonly<Record<string, string>>;

const local = new SessionCookie(null);
const atHome = new SessionCookie(new URL('https://switchyard.example.com'));

const request = (headers: Headers, remoteAddress = '127.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;
const page: Headers = { host: '127.0.0.1:8080', 'switchyard-session': '1', cookie: `switchyard-session=${token}` };

describe('SessionCookie', () => {
  it('reads the token of a request of the page', () => {
    assert.equal(local.tokenOf(request(page)), token);
    assert.equal(local.tokenOf(request({ ...page, cookie: `a=b; switchyard-session=${token}; c=d` })), token);
    for (const host of ['localhost:8080', '[::1]:8080', '127.0.0.1'])
      assert.equal(local.tokenOf(request({ ...page, host, origin: `http://${host}` }, '::1')), token, host);
  });

  const ignored: Readonly<Record<string, readonly [Headers, string?]>> = {
    'without the header that only a script can send': [{ host: '127.0.0.1', cookie: `switchyard-session=${token}` }],
    'of another origin': [{ ...page, origin: 'http://evil.example' }],
    'of another port of this machine': [{ ...page, origin: 'http://127.0.0.1:9090' }],
    'of another site, as its browser says': [{ ...page, 'sec-fetch-site': 'cross-site' }],
    'of a page without an origin': [{ ...page, origin: 'null' }],
    'to a name that is not of this machine': [{ ...page, host: 'switchyard.example.com' }],
    'to a name that only looks like this machine': [{ ...page, host: 'localhost.evil.example' }],
    'to a host that cannot be read': [{ ...page, host: '127.0.0.1:x:y' }],
    'from another machine': [page, '10.0.0.7'],
    'without a cookie': [{ host: '127.0.0.1', 'switchyard-session': '1' }],
    'with two of the cookie': [{ ...page, cookie: `switchyard-session=${token}; switchyard-session=${token}` }],
    'with a token of another form': [{ ...page, cookie: 'switchyard-session=a' }],
    'with the name of another cookie': [{ ...page, cookie: `__Host-switchyard-session=${token}` }],
  };
  for (const [what, [headers, address]] of Object.entries(ignored))
    it(`ignores the cookie of a request ${what}`, () => {
      assert.equal(local.tokenOf(request(headers, address)), null);
    });

  it('belongs to the public address, wherever the request comes from', () => {
    const headers = { 'switchyard-session': '1', cookie: `__Host-switchyard-session=${token}` };
    const own = { ...headers, host: 'node-1:8080', origin: 'https://switchyard.example.com' };
    assert.equal(atHome.tokenOf(request(own, '10.0.0.7')), token);
    assert.equal(atHome.tokenOf(request({ ...own, origin: 'https://evil.example' })), null);
    assert.equal(atHome.tokenOf(request(page)), null);
  });

  it('is sent to this host alone, and no script can read it', () => {
    assert.equal(
      local.beginning(token),
      `switchyard-session=${token}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`,
    );
    assert.equal(
      atHome.beginning(token),
      `__Host-switchyard-session=${token}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure`,
    );
    assert.equal(local.ending, 'switchyard-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
  });
});
