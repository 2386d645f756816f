import assert from 'node:assert/strict';
import { isPublicAddress } from '#webhooks/url-guard.ts';

const refused = {
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'link-local addresses and cloud metadata': [
    '169.254.0.1',
    '169.254.169.254',
    'fe80::1',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
  ],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'multicast and broadcast': ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  'reserved and documentation ranges': [
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    'fec0::1',
    '5f00::1',
  ],
  'IPv4 addresses within IPv6 addresses': [
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '2002:7f00:1::1',
    '2001:0:1::1',
  ],
  'texts that are not addresses': ['', 'localhost', '1.2.3', '1.2.3.4.5', '0x7f.1', 'fe80::1%eth0'],
};

describe('isPublicAddress', () => {
  for (const [what, addresses] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      assert.deepEqual(addresses.filter(isPublicAddress), []);
    });
  }

  it('allows public addresses of both families, and those mapped to IPv6', () => {
    const addresses = ['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8'];
    assert.deepEqual(addresses.filter(isPublicAddress), addresses);
  });
});
