import assert from 'node:assert/strict';
import { IdFilter } from '#projection-engine/id-filter.ts';

describe('id filter', () => {
  it('never forgets an id, and takes hardly any other for one', () => {
    const filter = new IdFilter();
    const id = (index: number) => `cflow${index.toString(36)}`;
    for (let index = 0; index < 200_000; index += 1) filter.add(id(index));
    let mistaken = 0;
    for (let index = 0; index < 200_000; index += 1) assert.ok(filter.mayHave(id(index)));
    for (let index = 200_000; index < 400_000; index += 1) if (filter.mayHave(id(index))) mistaken += 1;
    assert.ok(mistaken < 2000, `${mistaken} mistaken`);
  });
});
