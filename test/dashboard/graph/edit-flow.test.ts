import assert from 'node:assert/strict';
import { edgesOfStep, textsOfStep, withLabel, withText } from '#dashboard/page/graph/edit-flow.ts';

const keyed = {
  start: 'greet',
  nodes: {
    greet: {
      say: 'Hello.',
      ask: { text: 'How can I help?', options: ['Hours', 'Staff'] },
      next: { hours: 'hours', 'a person': 'staff' },
    },
    hours: { say: 'Nine to five.', next: null },
    staff: { say: 'One moment.', limit: 3 },
  },
};
const listed = {
  nodes: [
    { id: 'a', say: 'A' },
    { id: 'b', say: 'B' },
  ],
  edges: [['a', 'b', 'yes'], { source: 'a', target: 'a', label: 'no' }, { from: 'b', to: 'a' }],
};

describe('editing a flow on its steps', () => {
  it('finds the texts of a step, wherever they are in it', () => {
    assert.deepEqual(
      textsOfStep(keyed, 'greet').map(({ name, value }) => [name, value]),
      [
        ['say', 'Hello.'],
        ['ask / text', 'How can I help?'],
        ['ask / options / 0', 'Hours'],
        ['ask / options / 1', 'Staff'],
      ],
    );
    assert.deepEqual(
      textsOfStep(listed, 'b').map(({ name, value }) => [name, value]),
      [['say', 'B']],
    );
    assert.deepEqual([textsOfStep(keyed, 'none'), textsOfStep(7, 'a')], [[], []]);
  });

  it('changes one text and nothing else, in the same order', () => {
    const [, , second] = textsOfStep(keyed, 'greet');
    const changed = withText(keyed, second?.path ?? [], 'Opening hours');
    assert.equal(
      JSON.stringify(changed),
      JSON.stringify(keyed).replace('"options":["Hours"', '"options":["Opening hours"'),
    );
  });

  it('finds the labels of the edges that leave a step', () => {
    const labels = (schema: unknown, id: string) => edgesOfStep(schema, id).map(({ label, to }) => [label, to]);
    assert.deepEqual(labels(keyed, 'greet'), [
      ['hours', 'hours'],
      ['a person', 'staff'],
    ]);
    assert.deepEqual(labels(listed, 'a'), [
      ['yes', 'b'],
      ['no', 'a'],
    ]);
    assert.deepEqual([labels(keyed, 'hours'), labels(listed, 'b')], [[], [['', 'a']]]);
  });

  it('changes a label in its place, and keeps a label that another edge has', () => {
    const [hours] = edgesOfStep(keyed, 'greet');
    assert.ok(hours);
    assert.equal(
      JSON.stringify(withLabel(keyed, hours, 'opening hours')),
      JSON.stringify(keyed).replace('"next":{"hours"', '"next":{"opening hours"'),
    );
    assert.deepEqual(withLabel(keyed, hours, 'a person'), keyed);
    const [yes, no] = edgesOfStep(listed, 'a');
    assert.ok(yes && no);
    assert.deepEqual(withLabel(withLabel(listed, yes, 'sure'), no, 'never'), {
      ...listed,
      edges: [['a', 'b', 'sure'], { source: 'a', target: 'a', label: 'never' }, { from: 'b', to: 'a' }],
    });
  });
});
