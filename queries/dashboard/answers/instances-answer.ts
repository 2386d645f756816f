import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { InstanceStatus } from '#domain/instance/record.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);

/** The answer of `GET /v1/dashboard/instances`. Arrays of figures are by day. */
export const InstancesAnswer = t.type(
  {
    /** Existing instances by state. */
    totals: t.type({ instances: t.number, active: t.number, provisioning: t.number, failed: t.number }),
    /** By template version, newest of each template first. Names are null for keys that may not know of templates. */
    versions: t.readonlyArray(
      t.type({
        templateId: cuid,
        templateVersionId: cuid,
        templateName: nullable(text()),
        number: t.number,
        tag: nullable(text()),
        active: t.number,
        provisioning: t.number,
        failed: t.number,
      }),
    ),
    /** Upgrades that were requested in these days, by their outcome so far. */
    upgrades: t.type({
      from: timestamp,
      until: timestamp,
      /** Each day in UTC, `2026-01-05`, oldest first. */
      days: t.readonlyArray(text()),
      requested: counts,
      succeeded: t.number,
      running: t.number,
      undone: t.number,
      failed: t.number,
      superseded: t.number,
    }),
    /** Instances that need attention: they failed, or their last operation was undone. At most 50, oldest first. */
    attention: t.type({
      total: t.number,
      instances: t.readonlyArray(
        t.type({
          instanceId: cuid,
          organizationId: cuid,
          projectId: cuid,
          name: text(),
          status: InstanceStatus,
          why: oneOf('failed', 'undone'),
          templateId: cuid,
          templateVersionId: cuid,
          /** The template version of the operation that did not succeed. */
          wantedTemplateVersionId: cuid,
          reason: nullable(text()),
          endedAt: timestamp,
        }),
      ),
    }),
  },
  'DashboardInstances',
);

export type InstancesAnswer = t.TypeOf<typeof InstancesAnswer>;
