import assert from 'node:assert/strict';
import { claimedNumbers } from '#domain/phone-number/number-space.ts';
import { ids } from '#test/support/events/tenants.ts';

const claimed = (type: string, projectId: string, number: string) => claimedNumbers(type, projectId, number)[0] ?? '';
const shared = (number: string) => claimed('platform', ids.project, number);

describe('claimedNumbers', () => {
  it('treats all notations of a number as the same number', () => {
    for (const written of ['+44 20 7183 8750', '+44 (0)20 7183-8750', '+44-20-7183-8750']) {
      assert.equal(shared(written), shared('+442071838750'), written);
    }
  });

  it('treats a number as the same in unusual spellings, prefixes and digits', () => {
    for (const written of [
      'tel:+442071838750',
      'TEL:+44-20-7183-8750;ext=12',
      'tel:20-7183-8750;phone-context=+44',
      '00442071838750',
      '0044 (0)20 7183 8750',
      '(00) 44 20 7183 8750',
      '\uff0b\uff14\uff14\uff12\uff10\uff17\uff11\uff18\uff13\uff18\uff17\uff15\uff10',
      '+\u0664\u0664\u0662\u0660\u0667\u0661\u0668\u0663\u0668\u0667\u0665\u0660',
      '+\u096a\u096a\u0968\u0966\u096d\u0967\u096e\u0969\u096e\u096d\u096b\u0966',
      '+44\u200b20\u200d7183\u20608750',
      '\ufeff+442071838750\u00ad',
      '+44\u00a020\u20027183\u20118750',
    ]) {
      assert.equal(shared(written), shared('+442071838750'), JSON.stringify(written));
    }
  });

  it('claims the raw text of earlier releases too for a tel URI, and nothing more for other texts', () => {
    const claims = claimedNumbers('platform', ids.project, 'tel:+442071838750');
    assert.deepEqual(claims, ['shared\n+442071838750', 'shared\ntel:+442071838750']);
    for (const number of ['+44 20 7183 8750', 'reception']) {
      assert.equal(claimedNumbers('platform', ids.project, number).length, 1, number);
    }
  });

  it('treats texts without an E.164 form as equal when they differ only in invisible characters', () => {
    assert.equal(shared('rece\u200bption'), shared('reception'));
    assert.equal(shared('\uff11\uff10\uff10'), shared('100'));
  });

  it('leaves a text without an E.164 form unchanged', () => {
    const raw = ['reception', 'Reception', ' reception', '020 7183 8750', '02071838750', '+44', 'sip:a@b.example', '1'];
    assert.equal(new Set(raw.map(shared)).size, raw.length);
  });

  it('shares one number space between platform and partner numbers of all projects', () => {
    assert.equal(claimed('partner', ids.sibling, '+442071838750'), shared('+442071838750'));
  });

  it('separates external numbers by project', () => {
    const external = (projectId: string) => claimed('external', projectId, '+442071838750');
    assert.equal(external(ids.project), external(ids.project));
    assert.equal(new Set([external(ids.project), external(ids.sibling), shared('+442071838750')]).size, 3);
  });

  it('never confuses a raw text with a number of another space', () => {
    assert.notEqual(shared(`x\nexternal ${ids.project}\n1`), claimed('external', ids.project, '1'));
  });
});
