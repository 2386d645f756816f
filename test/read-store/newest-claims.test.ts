import assert from 'node:assert/strict';
import { keepNewestClaims } from '#read-store/newest-claims.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { countParsedCharacters } from '#test/support/harness/count-parsed-characters.ts';

interface Holder {
  readonly claims: string;
  readonly record: { readonly note: string };
}

const document = (id: string, position: number, ...claims: ReadonlyArray<string>) =>
  new StoredDocument<Holder>(
    id,
    1,
    JSON.stringify({ claims: claims.join(' '), record: { note: `"claims":"of ${id}"` } }),
    position,
  );

const disclaim = (value: object, lost: ReadonlySet<string>) => {
  const { claims, ...others } = value as Holder;
  const left = claims.split(' ').filter((id) => !lost.has(id));
  return { claims: left.join(' '), ...others };
};

const claimsOf = (documents: ReadonlyArray<StoredDocument<Holder>>) =>
  Object.fromEntries(keepNewestClaims(documents, disclaim).map(({ id, claims }) => [id, claims]));

describe('keepNewestClaims', () => {
  it('keeps the claim of the document with the newest position, whichever comes first', () => {
    const [older, newer] = [document('a', 4, 'flow'), document('b', 7, 'flow')];
    assert.deepEqual(claimsOf([older, newer]), { a: '', b: 'flow' });
    assert.deepEqual(claimsOf([newer, older]), { a: '', b: 'flow' });
  });

  it('decides each claim on its own', () => {
    const crosswise = [document('a', 9, 'default', 'flow1'), document('b', 8, 'default', 'flow2'), document('c', 7)];
    assert.deepEqual(claimsOf(crosswise), { a: 'default flow1', b: 'flow2', c: '' });
  });

  it('keeps one claim of three, and of two documents at one position', () => {
    assert.deepEqual(claimsOf([document('a', 2, 'f'), document('b', 9, 'f'), document('c', 5, 'f')]), {
      a: '',
      b: 'f',
      c: '',
    });
    assert.deepEqual(claimsOf([document('a', 2, 'f'), document('b', 2, 'f')]), { a: 'f', b: '' });
  });

  it('keeps order, position and record of a document that loses a claim', () => {
    const [lost] = keepNewestClaims([document('a', 4, 'flow'), document('b', 7, 'flow')], disclaim);
    assert.deepEqual([lost?.id, lost?.order, lost?.position], ['a', 1, 4]);
    assert.deepEqual(lost?.record.parse(), { note: '"claims":"of a"' });
  });

  it('leaves out a document of which nothing is left without its claim', () => {
    const kept = keepNewestClaims([document('a', 4, 'number'), document('b', 7, 'number')], () => null);
    assert.deepEqual(
      kept.map(({ id }) => id),
      ['b'],
    );
  });

  it('returns documents without a contradiction as they are, and parses none', async () => {
    const documents = [document('a', 4, 'flow1', 'flow2'), document('b', 7, 'flow3'), document('c', 8)];
    const { result, characters } = await countParsedCharacters(() => keepNewestClaims(documents, assert.fail));
    assert.equal(result, documents);
    assert.equal(characters, 0);
  });
});
