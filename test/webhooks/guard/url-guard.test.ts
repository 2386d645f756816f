import assert from 'node:assert/strict';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type HostAddress, HostNotFoundError, type ResolveHost, UrlGuard } from '#webhooks/url-guard.ts';

const hosts: Readonly<Record<string, ReadonlyArray<HostAddress>>> = {
  'public.example': [{ address: '93.184.216.34', family: 4 }],
  'private.example': [{ address: '10.0.0.1', family: 4 }],
  'mixed.example': [
    { address: '93.184.216.34', family: 4 },
    { address: '::1', family: 6 },
  ],
};

const resolve: ResolveHost = async (hostname) => {
  if (hostname === 'slow.example') throw new Error('queryA ETIMEOUT');
  const addresses = hosts[hostname];
  if (addresses === undefined) throw new HostNotFoundError(hostname);
  return addresses;
};

const guard = new UrlGuard({ allowsPrivateNetworks: false, resolve });
const open = new UrlGuard({ allowsPrivateNetworks: true, resolve });

describe('UrlGuard', () => {
  it('allows https to a host with public addresses, and to a public address itself', async () => {
    for (const url of [
      'https://public.example/hooks?a=b',
      'https://8.8.8.8:8443/',
      'https://[2606:4700:4700::1111]/',
    ]) {
      assert.equal(await guard.faultOf(url), null, url);
    }
  });

  it('refuses a host with any address that is not public', async () => {
    for (const url of ['https://private.example/', 'https://mixed.example/']) {
      assert.match((await guard.faultOf(url)) ?? '', /public addresses alone.*WEBHOOK_ALLOW_PRIVATE_NETWORKS/, url);
    }
  });

  it('refuses private addresses in every spelling that a URL may have', async () => {
    const spellings = [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '127.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
    ];
    for (const host of spellings) assert.match((await guard.faultOf(`https://${host}/`)) ?? '', /public/, host);
  });

  it('refuses a URL that is not https or has a user, a password or a fragment', async () => {
    const urls = [
      'hooks',
      'http://public.example/',
      'ftp://public.example/',
      'https://me:pass@public.example/',
      'https://me@public.example/',
      'https://public.example/#part',
      'https://',
    ];
    for (const url of urls) assert.notEqual(await guard.faultOf(url), null, url);
  });

  it('refuses a host without an address, and throws an UnavailableError while the name servers are silent', async () => {
    assert.match((await guard.faultOf('https://absent.example/')) ?? '', /has an address/);
    await assert.rejects(guard.faultOf('https://slow.example/'), UnavailableError);
  });

  it('refuses a host for which the name servers know no address', async () => {
    const empty = new UrlGuard({ allowsPrivateNetworks: false, resolve: async () => [] });
    assert.match((await empty.faultOf('https://empty.example/')) ?? '', /has an address/);
    await assert.rejects(empty.addressesOf('empty.example'), HostNotFoundError);
    const anywhere = new UrlGuard({ allowsPrivateNetworks: true, resolve: async () => [] });
    await assert.rejects(anywhere.addressesOf('empty.example'), HostNotFoundError);
  });

  it('connects to an address of either family as what it is', async () => {
    assert.deepEqual(await guard.addressesOf('8.8.8.8'), [{ address: '8.8.8.8', family: 4 }]);
    const address = '2606:4700:4700::1111';
    assert.deepEqual(await guard.addressesOf(address), [{ address, family: 6 }]);
  });

  it('looks a host up for a new connection with the same check, for one address or for all', async () => {
    const lookUp = (of: UrlGuard, host: string, all: boolean) =>
      new Promise<unknown>((resolve) =>
        of.lookup(host, { all }, (error, address, family) =>
          resolve(error?.name ?? (all ? address : [address, family])),
        ),
      );
    assert.deepEqual(await lookUp(guard, 'public.example', false), ['93.184.216.34', 4]);
    assert.deepEqual(await lookUp(guard, 'public.example', true), hosts['public.example']);
    assert.deepEqual(await lookUp(open, 'mixed.example', true), hosts['mixed.example']);
    for (const host of ['private.example', 'mixed.example'])
      assert.equal(await lookUp(guard, host, true), 'AddressRefusedError', host);
    assert.equal(await lookUp(guard, 'absent.example', false), 'HostNotFoundError');
  });

  it('checks a URL with an address before a connection, which makes no lookup', () => {
    guard.checkLiteral('https://8.8.8.8/');
    guard.checkLiteral('https://[2606:4700:4700::1111]/');
    guard.checkLiteral('https://private.example/');
    open.checkLiteral('https://127.0.0.1/');
    for (const host of ['127.0.0.1', '[::1]', '10.0.0.1'])
      assert.throws(() => guard.checkLiteral(`https://${host}/`), { name: 'AddressRefusedError' }, host);
  });

  it('allows private networks and plain HTTP when that is configured, but no other scheme', async () => {
    assert.equal(await open.faultOf('http://127.0.0.1:9000/hooks'), null);
    assert.equal(await open.faultOf('http://anything.internal/'), null);
    assert.notEqual(await open.faultOf('file:///etc/passwd'), null);
  });
});
