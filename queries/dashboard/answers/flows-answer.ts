import * as t from 'io-ts';
import { nextCursorOutput } from '#application/queries/paging.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);

/** A flow with its versions in figures. */
export const FlowFigures = t.type(
  {
    flowId: cuid,
    projectId: cuid,
    organizationId: cuid,
    name: text(),
    /** Versions that exist, and that were deleted. */
    versions: t.number,
    deletedVersions: t.number,
    /** How often a version was made the active one, the first included. */
    activations: t.number,
    newestVersion: t.type({ id: cuid, number: t.number, tag: text(), createdAt: timestamp }),
    /** Null for as long as the read model of versions lies behind. */
    activeVersion: nullable(t.type({ id: cuid, number: t.number, tag: text(), since: timestamp })),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'FlowFigures',
);

export type FlowFigures = t.TypeOf<typeof FlowFigures>;

/** `GET /v1/dashboard/flows`. Arrays of figures are by day. */
export const FlowsAnswer = t.intersection(
  [
    t.type({
      from: timestamp,
      until: timestamp,
      /** Each day in UTC, `2026-01-05`, the oldest first. */
      days: t.readonlyArray(text()),
      /** Versions created and made active; those that came with a new flow included. */
      versionsCreated: counts,
      activations: counts,
      totals: t.type({
        /** Flows that exist. */
        flows: t.number,
        versionsCreated: t.number,
        previousVersionsCreated: t.number,
        activations: t.number,
        previousActivations: t.number,
      }),
      /** A page of the flows that exist: `limit`, `cursor`, `sort` as in every list. */
      flows: t.readonlyArray(FlowFigures),
    }),
    nextCursorOutput,
  ],
  'DashboardFlows',
);

export type FlowsAnswer = t.TypeOf<typeof FlowsAnswer>;
