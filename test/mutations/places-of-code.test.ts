import assert from 'node:assert/strict';
import { chooseMutations, type Mutation, type Source } from './choose.ts';
import { changed } from './operators.ts';
import { PlacesOfCode } from './places-of-code.ts';

const path = 'src/limits.ts';
const text = `
/** Says whether a limit is reached. */
export function isReached(count: number, limit: number): boolean {
  // The limit itself is allowed.
  return count > limit;
}

export function isNear(count: number, limit: number): boolean {
  return count > limit / 2;
}
`;

describe('the place of a mutation', () => {
  it('is found in the same code', () => {
    assert.match(placedIn([{ path, text }]), /return count >= limit;/);
  });

  it('is found after lines have moved and comments have gone', () => {
    const moved = `const first = 1;\n\n${text.replaceAll(/ *\/[/*].*\n/g, '')}`;
    assert.match(placedIn([{ path, text: moved }]), /return count >= limit;/);
  });

  it('is found after a name has changed', () => {
    assert.match(placedIn([{ path, text: text.replaceAll('limit', 'max') }]), /return count >= max;/);
  });

  it('is found in another file', () => {
    assert.match(placedIn([{ path: 'src/other.ts', text }]), /return count >= limit;/);
  });

  it('is gone with its code', () => {
    const [, before = '', near = ''] = /^([\s\S]*)(export function isNear[\s\S]*)$/.exec(text) ?? [];
    const place = mutation([{ path, text }]);
    assert.ok(before.includes('isReached'));
    assert.equal(new PlacesOfCode([{ path, text: near.replace('>', '<') }]).find(place), null);
  });
});

/** The change of the first bound, which the places around it must tell from the second one. */
function mutation(sources: ReadonlyArray<Source>): Mutation {
  const all = chooseMutations(sources, 6, 1);
  const found = all.find(({ operator, following }) => operator === 'move a bound' && following.startsWith('limit ;'));
  assert.ok(found);
  return found;
}

/** The text of the changed file, after the mutation of the code above. */
function placedIn(sources: ReadonlyArray<Source>): string {
  const found = new PlacesOfCode(sources).find(mutation([{ path, text }]));
  assert.ok(found);
  return changed(found.text, found.change);
}
