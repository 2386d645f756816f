import { deepEqual, equal } from 'node:assert/strict';
import { UnorderedList, type UnorderedListItem } from '#shared/memory/unordered-list.ts';

interface Named extends UnorderedListItem {
  readonly name: string;
}

const named = (name: string): Named => ({ name, listIndex: null });
const namesIn = (list: UnorderedList<Named>) => {
  const names: string[] = [];
  list.visit(({ name }) => names.push(name));
  return names.sort();
};

describe('An unordered list', () => {
  it('given items, when some are removed, then it visits each of the others once', () => {
    const list = new UnorderedList<Named>();
    const items = ['a', 'b', 'c', 'd'].map(named);
    for (const item of items) list.add(item);
    for (const item of [items[0], items[3]]) if (item !== undefined) list.remove(item);
    deepEqual([namesIn(list), list.size], [['b', 'c'], 2]);
  });

  it('given an item, when it is added twice and removed twice, then it is in the list once and then not at all', () => {
    const list = new UnorderedList<Named>();
    const [item, other] = [named('item'), named('other')];
    list.add(other);
    list.add(item);
    list.add(item);
    equal(list.size, 2);
    list.remove(item);
    list.remove(item);
    deepEqual(namesIn(list), ['other']);
    list.add(item);
    deepEqual(namesIn(list), ['item', 'other']);
  });

  it('given a visitor that removes and adds items, then it sees every item that stays, and none that it has added', () => {
    const list = new UnorderedList<Named>();
    const items = ['a', 'b', 'c', 'd', 'e'].map(named);
    for (const item of items) list.add(item);
    const seen: string[] = [];
    list.visit((item) => {
      seen.push(item.name);
      list.remove(item);
      if (item.name === 'e' && items[0] !== undefined) list.remove(items[0]);
      list.add(named(`new ${item.name}`));
    });
    deepEqual([...new Set(seen)].filter((name) => !name.startsWith('new ')).sort(), ['b', 'c', 'd', 'e']);
    deepEqual(
      namesIn(list).filter((name) => ['a', 'b', 'c', 'd', 'e'].includes(name)),
      [],
    );
  });

  it('given items, when one of them fits, then it finds it, and no removed one', () => {
    const list = new UnorderedList<Named>();
    const item = named('item');
    for (const each of [named('other'), item]) list.add(each);
    equal(
      list.some(({ name }) => name === 'item'),
      true,
    );
    list.remove(item);
    equal(
      list.some(({ name }) => name === 'item'),
      false,
    );
  });
});
