import * as t from 'io-ts';
import { nextCursorOutput } from '#application/operations/paging.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);

/** The figures of a flow and its versions. */
export const FlowFigures = t.type(
  {
    flowId: cuid,
    projectId: cuid,
    organizationId: cuid,
    name: text(),
    /** The numbers of existing and of deleted versions. */
    versions: t.number,
    deletedVersions: t.number,
    /** How often a version was activated, the first one included. */
    activations: t.number,
    newestVersion: t.type({ id: cuid, number: t.number, tag: text(), createdAt: timestamp }),
    /** Null while the read model of versions is behind. */
    activeVersion: nullable(t.type({ id: cuid, number: t.number, tag: text(), since: timestamp })),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'FlowFigures',
);

export type FlowFigures = t.TypeOf<typeof FlowFigures>;

/** The answer of `GET /v1/dashboard/flows`. Arrays of figures are by day. */
export const FlowsAnswer = t.intersection(
  [
    t.type({
      from: timestamp,
      until: timestamp,
      /** Each day in UTC, `2026-01-05`, oldest first. */
      days: t.readonlyArray(text()),
      /** Created and activated versions, the first versions of new flows included. */
      versionsCreated: counts,
      activations: counts,
      totals: t.type({
        /** Existing flows. */
        flows: t.number,
        versionsCreated: t.number,
        previousVersionsCreated: t.number,
        activations: t.number,
        previousActivations: t.number,
      }),
      /** A page of the existing flows: `limit`, `cursor`, `sort` as in every list. */
      flows: t.readonlyArray(FlowFigures),
    }),
    nextCursorOutput,
  ],
  'DashboardFlows',
);

export type FlowsAnswer = t.TypeOf<typeof FlowsAnswer>;
