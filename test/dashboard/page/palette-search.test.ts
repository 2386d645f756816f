import assert from 'node:assert/strict';
import { findIn, type PaletteItem } from '#dashboard/page/app/palette/palette-search.ts';

const item = (group: string, title: string, key = title): PaletteItem => ({
  group,
  key,
  title,
  note: '',
  words: `${title} ${key}`,
  run: () => undefined,
});

const items = [item('Flows', 'Book a visit', 'c1'), item('Flows', 'Visit reminder', 'c2'), item('Go to', 'Audit')];
const titles = (text: string) =>
  findIn(items, text).map(({ group, items: found }) => [group, ...found.map(({ title }) => title)]);

describe('findIn', () => {
  it('finds entries by each word in any case, and lists entries that begin with the text first', () => {
    assert.deepEqual(titles('visit'), [['Flows', 'Visit reminder', 'Book a visit']]);
    assert.deepEqual(titles('VISIT book'), [['Flows', 'Book a visit']]);
  });

  it('finds an entry by its id', () => {
    assert.deepEqual(titles('c2'), [['Flows', 'Visit reminder']]);
  });

  it('shows all entries without a text, and no entry for an unknown text', () => {
    assert.equal(titles('').flat().length, 5);
    assert.deepEqual(titles('nothing'), []);
  });
});
