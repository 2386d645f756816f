import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ignoredMembers } from '#exchange/ignored-members.ts';

const member = (pointer: string) => ({ pointer, message: 'is unknown' });
const parameter = (name: string) => ({ pointer: `/${name}`, parameter: name, message: 'is unknown' });

describe('the names of ignored members', () => {
  it('are pointers of members and names of query parameters', () => {
    assert.equal(ignoredMembers([member('/budget'), parameter('nam')]), '/budget, ?nam');
  });

  it('name once what differs only in indices of lists', () => {
    const pointers = ['/messages/0/content/1/cache_control', '/messages/12/content/0/cache_control', '/messages/3/x1'];
    assert.equal(ignoredMembers(pointers.map(member)), '/messages/*/content/*/cache_control, /messages/*/x1');
  });

  it('encode blanks, commas, percent signs and what is not ASCII', () => {
    assert.equal(ignoredMembers([member('/a b,c%ü\n')]), '/a%20b%2Cc%25%C3%BC%0A');
  });

  it('count what does not fit', () => {
    const many = Array.from({ length: 57 }, (_, number) => member(`/m${number}`));
    assert.match(ignoredMembers(many), /^\/m0, .*\/m19, \+37$/);
    assert.equal(ignoredMembers([member(`/${'x'.repeat(2000)}`)]), '+1');
  });

  it('cost little, however long and many they are', () => {
    const long = member(`/${','.repeat(20_000_000)}`);
    const many = Array.from({ length: 100_000 }, (_, number) => member(`/m${number}`));
    const before = process.cpuUsage();
    assert.match(ignoredMembers([long, ...many]), /^\/m0, .*, \+\d+$/);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, 'encoding 20 MB takes several seconds');
  });

  it('are a header of at most 1 KiB whatever a request has', () => {
    const text = fc.string({ unit: 'binary' });
    const any = fc.array(
      fc.oneof(
        text.map((name) => member(`/${name}`)),
        text.map(parameter),
      ),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(any, (ignored) => {
        const value = ignoredMembers(ignored);
        return value.length <= 1024 && /^[\x20-\x7e]+$/.test(value);
      }),
    );
  });
});
