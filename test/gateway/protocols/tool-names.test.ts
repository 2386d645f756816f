import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ToolNames } from '#gateway/protocols/tool-names.ts';

/** What each provider takes. */
const form = /^[a-zA-Z0-9_-]{1,64}$/;

const nameOf = (namespace: string | null, name: string) => new ToolNames().nameOf(namespace, name);

describe('ToolNames', () => {
  it('given a name that every provider takes then it stays', () => {
    for (const name of ['look', 'get-weather_2', 'a', '7', 'x'.repeat(64)]) assert.equal(nameOf(null, name), name);
  });

  it('given a namespace then its name and two underscores come first, but for that of functions', () => {
    assert.equal(nameOf('mcp__files', 'read'), 'mcp__files__read');
    assert.equal(nameOf('functions', 'read'), 'read');
    assert.equal(nameOf('', 'read'), 'read');
  });

  it('given a name that is too long or has other characters then it ends with 8 hex digits, and two of them differ', () => {
    const long = 'x'.repeat(65);
    assert.match(nameOf(null, long), /^x{55}_[0-9a-f]{8}$/);
    assert.notEqual(nameOf(null, long), nameOf(null, `${long}y`));
    assert.match(nameOf(null, 'web.search'), /^web_search_[0-9a-f]{8}$/);
    assert.notEqual(nameOf(null, 'web.search'), nameOf(null, 'web search'));
    assert.match(nameOf(null, ''), /^_[0-9a-f]{8}$/);
    assert.match(nameOf('größe', 'ü'), /^gr__e____[0-9a-f]{8}$/);
    assert.notEqual(nameOf('a.b', 'c'), nameOf('a', 'b__c'));
  });

  it('given two tools whose names become one then the first keeps it, and the second gets a hash', () => {
    const names = new ToolNames();
    assert.equal(names.nameOf('a', 'b__c'), 'a__b__c');
    const second = names.nameOf('a__b', 'c');
    assert.match(second, /^a__b__c_[0-9a-f]{8}$/);
    assert.equal(names.nameOf('a', 'b__c'), 'a__b__c');
    assert.equal(names.nameOf('a__b', 'c'), second);
  });

  it('given a tool whose own name is the changed name of another then both have names', () => {
    const changed = nameOf(null, 'web.search');
    const names = new ToolNames();
    assert.equal(names.nameOf(null, changed), changed);
    const other = names.nameOf(null, 'web.search');
    assert.match(other, /^web_search_[0-9a-f]{8}$/);
    assert.notEqual(other, changed);
  });

  it('given the same tools in the same order then they have the same names, however often each is asked for', () => {
    const tools = fc.array(fc.tuple(fc.option(anyName), anyName), { maxLength: 40 });
    fc.assert(
      fc.property(tools, fc.array(fc.nat()), (asked, again) => {
        const names = new ToolNames();
        const given = asked.map(([namespace, name]) => names.nameOf(namespace, name));
        for (const name of given) assert.match(name, form);
        const others = new ToolNames();
        assert.deepEqual(
          asked.map(([namespace, name]) => others.nameOf(namespace, name)),
          given,
        );
        for (const each of again) {
          const [namespace, name] = asked[each % asked.length] ?? [null, ''];
          if (asked.length > 0) assert.equal(names.nameOf(namespace, name), given[each % asked.length]);
        }
      }),
    );
  });

  it('given any tools then two of them never have one name, and one tool never has two', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.option(anyName), anyName), { maxLength: 40 }), (asked) => {
        const names = new ToolNames();
        const tools = new Map(
          asked.map(([namespace, name]) => [keyOf(namespace, name), names.nameOf(namespace, name)]),
        );
        assert.equal(new Set(tools.values()).size, tools.size);
        for (const [namespace, name] of asked)
          assert.equal(names.nameOf(namespace, name), tools.get(keyOf(namespace, name)));
      }),
    );
  });

  it('given many tools with one beginning then each has a name of its own', () => {
    const names = new ToolNames();
    const given = Array.from({ length: 20_000 }, (_, index) => names.nameOf('x'.repeat(100), `tool ${index}`));
    assert.equal(new Set(given).size, given.length);
  });
});

/** Names that collide often, and any other text. */
const anyName = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'a__b', 'b__c', '__', 'a.b', 'a b', 'functions', '_'.repeat(70), 'é', '\ud800', '💡'),
  fc.stringMatching(/^[ab_.]{0,5}$/),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

/** What makes two tools different: tools without a namespace are in that of functions. */
function keyOf(namespace: string | null, name: string): string {
  return JSON.stringify([namespace === null || namespace === '' ? 'functions' : namespace, name]);
}
