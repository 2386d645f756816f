import assert from 'node:assert/strict';
import { newEvent } from '#domain/shared/event.ts';
import { templateVersions } from '#projections/template-versions.ts';
import { templates } from '#projections/templates.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionOf,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const id = ids.template;
const stream = `template-${id}`;
const template = (change: object, revision: number, updated = revision) => ({
  [id]: {
    ...tenants.project,
    revision,
    record: { ...templateCreated().data, status: 'draft', createdAt: timeOf(0), updatedAt: timeOf(updated), ...change },
  },
});
const of = (...events: ReadonlyArray<ExampleEvent>) =>
  projectStreams(templates, { [stream]: [templateCreated(), ...events] });

describe('templates projection', () => {
  it('shows a draft template with a new name or description', () => {
    assert.deepEqual(of(), template({}, 0));
    assert.deepEqual(of(newEvent('TemplateRenamed', { id, name: 'Clinic' })), template({ name: 'Clinic' }, 1));
    assert.deepEqual(of(newEvent('TemplateDescribed', { id, description: null })), template({ description: null }, 1));
  });

  it('shows a template as published from its first published version on, with a new revision for every other', () => {
    const [first, second] = [templateVersionCreated(1), templateVersionCreated(2)];
    assert.deepEqual(of(first, second), template({}, 2, 0));
    const published = [first, second, templateVersionPublished(2)];
    assert.deepEqual(of(...published), template({ status: 'published' }, 3));
    assert.deepEqual(of(...published, templateVersionPublished(1)), template({ status: 'published' }, 4, 3));
  });

  it('shows an archived template', () => {
    assert.deepEqual(of(templateArchived()), template({ status: 'archived' }, 1));
  });
});

describe('template versions projection', () => {
  const version = (number: number, publishedAt: string | null, created: number, updated = created) => ({
    [templateVersionOf(id, number)]: {
      ...tenants.project,
      templateId: id,
      record: {
        ...templateVersionCreated(number).data,
        publishedAt,
        createdAt: timeOf(created),
        updatedAt: timeOf(updated),
      },
    },
  });

  it('shows each template version, published or not', () => {
    const events = [templateCreated(), templateVersionCreated(1), templateVersionCreated(2)];
    assert.deepEqual(projectStreams(templateVersions, { [stream]: events }), {
      ...version(1, null, 1),
      ...version(2, null, 2),
    });
    assert.deepEqual(projectStreams(templateVersions, { [stream]: [...events, templateVersionPublished(1)] }), {
      ...version(1, timeOf(3), 1, 3),
      ...version(2, null, 2),
    });
  });

  it('shows the versions of an archived template', () => {
    const events = [templateCreated(), templateVersionCreated(1), templateArchived()];
    assert.deepEqual(projectStreams(templateVersions, { [stream]: events }), version(1, null, 1));
  });
});
