import assert from 'node:assert/strict';
import type { FlowVersion, HistoryEvent } from '#dashboard/page/api/records.ts';
import { branchesOf, stationsOf } from '#dashboard/page/views/flows/timeline.ts';
import type { Json } from '#shared/json/json.ts';

const time = (minute: number) => `2026-11-20T14:${String(minute).padStart(2, '0')}:00.000Z`;

const version = (number: number, more: Partial<FlowVersion> = {}): FlowVersion => ({
  id: `v${number}`,
  flowId: 'f',
  version: number,
  tag: `v${number}`,
  flowSchema: {},
  isActive: false,
  createdAt: time(number),
  updatedAt: time(number),
  ...more,
});

const event = (type: string, id: string, minute: number, value?: Json): HistoryEvent => ({
  revision: minute,
  type,
  time: time(minute),
  actor: { keyId: 'k', keyType: 'partner', keyName: null },
  requestId: 'r',
  resource: { kind: 'flow-version', id },
  summary: '',
  changes: value === undefined ? [] : [{ op: 'replace', path: '', value }],
});

const kept = [version(1), version(2, { tag: 'quiet hours', isActive: true }), version(4, { restoredFrom: 'v1' })];
const history = [
  event('FlowVersionCreated', 'v4', 9, version(4, { restoredFrom: 'v1' })),
  event('FlowVersionDeleted', 'v3', 8),
  event('FlowVersionActivated', 'v2', 7),
  event('FlowVersionCreated', 'v3', 3, version(3)),
];

describe('stationsOf', () => {
  it('shows kept and deleted versions, the newest first', () => {
    const stations = stationsOf(kept, history);
    assert.deepEqual(
      stations.map(({ number, deletedAt }) => [number, deletedAt]),
      [
        [4, null],
        [3, time(8)],
        [2, null],
        [1, null],
      ],
    );
  });

  it('shows since when the active version is active, which version was restored, and no tag that repeats the number', () => {
    const [fourth, , second, first] = stationsOf(kept, history);
    assert.deepEqual([second?.isActive, second?.activeSince, second?.tag], [true, time(7), 'quiet hours']);
    assert.deepEqual([fourth?.restoredFrom, first?.tag], [1, null]);
  });

  it('draws the branch of a restored version from its source to itself', () => {
    const branches = branchesOf(stationsOf(kept, history));
    assert.deepEqual(
      branches.map(({ starts, passes, ends }) => [starts, passes, ends]),
      [
        [true, false, false],
        [false, true, false],
        [false, true, false],
        [false, false, true],
      ],
    );
  });
});
