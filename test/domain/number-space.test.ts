import assert from 'node:assert/strict';
import { claimedNumber } from '#domain/phone-number/number-space.ts';
import { ids } from '#test/support/story.ts';

const shared = (number: string) => claimedNumber('platform', ids.project, number);

describe('the space of a phone number', () => {
  it('takes every way to write a number for the same', () => {
    for (const written of ['+44 20 7183 8750', '+44 (0)20 7183-8750', '+44-20-7183-8750']) {
      assert.equal(shared(written), shared('+442071838750'), written);
    }
  });

  it('takes what has no E.164 form as it is', () => {
    const raw = ['reception', 'Reception', ' reception', '020 7183 8750', '02071838750', '+44', 'sip:a@b.example', '1'];
    assert.equal(new Set(raw.map(shared)).size, raw.length);
  });

  it('shares one space between platform and partner, over all projects', () => {
    assert.equal(claimedNumber('partner', ids.sibling, '+442071838750'), shared('+442071838750'));
  });

  it('has a space for each project where numbers are external', () => {
    const external = (projectId: string) => claimedNumber('external', projectId, '+442071838750');
    assert.equal(external(ids.project), external(ids.project));
    assert.equal(new Set([external(ids.project), external(ids.sibling), shared('+442071838750')]).size, 3);
  });

  it('lets no raw text pass for a number of another space', () => {
    assert.notEqual(shared(`x\nexternal ${ids.project}\n1`), claimedNumber('external', ids.project, '1'));
  });
});
