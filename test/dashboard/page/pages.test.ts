import assert from 'node:assert/strict';
import { withFirstPage } from '#dashboard/page/app/data/pages.ts';

const idOf = (item: string) => item;
const page = (items: string, next: string | null) => ({ items: items.split(' '), next });

describe('withFirstPage', () => {
  it('keeps the items that follow a page that is read again', () => {
    assert.deepEqual(withFirstPage(page('c b a z y x', 'x'), page('d c b', 'b'), idOf), page('d c b a z y x', 'x'));
  });

  it('leaves out an item that is gone from the first page', () => {
    assert.deepEqual(withFirstPage(page('d c b a z y', 'y'), page('d b a', 'a'), idOf), page('d b a z y', 'y'));
  });

  it('begins again where the list has no more than the page, where the pages do not meet, and without ids', () => {
    const shown = page('c b a z', 'z');
    assert.deepEqual(withFirstPage(shown, page('c b', null), idOf), page('c b', null));
    assert.deepEqual(withFirstPage(shown, page('h g f', 'f'), idOf), page('h g f', 'f'));
    assert.deepEqual(withFirstPage(shown, page('d c b', 'b'), null), page('d c b', 'b'));
    assert.deepEqual(withFirstPage(null, page('d c b', 'b'), idOf), page('d c b', 'b'));
  });

  it('takes the place of the page if nothing follows it', () => {
    assert.deepEqual(withFirstPage(page('c b a', null), page('d c b a', 'a'), idOf), page('d c b a', 'a'));
  });
});
