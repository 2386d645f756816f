import assert from 'node:assert/strict';
import { createTemplate } from '#commands/template/create-template.ts';
import { newEvent } from '#domain/shared/event.ts';
import { callerOf, ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { name: 'Dental practice', description: 'Front desk of a practice' };
const created = (headlessIntegratorId: string, description: string | null = input.description) =>
  newEvent('TemplateCreated', { id: newIds.id, headlessIntegratorId, name: input.name, description });

describe('create_template', () => {
  it('creates a template of the key’s own organization, for an admin key too', () => {
    for (const keyType of ['partner', 'admin'] as const) {
      for (const organizationId of [ids.partner, ids.stranger]) {
        const caller = callerOf(keyType, { organizationId });
        givenHistory().when(createTemplate, input, { caller }).then(created(organizationId));
      }
    }
  });

  it('creates a template without description when none or null is given', () => {
    for (const body of [{ name: input.name }, { name: input.name, description: null }]) {
      givenHistory()
        .when(createTemplate, body, { caller: callerOf('partner') })
        .then(created(ids.partner, null));
    }
  });

  it('puts a template under the organization itself, never under that organization’s partner', () => {
    const tenantOf = (organizationId: string) => {
      const caller = callerOf('admin', { organizationId, partnerId: ids.partner });
      return createTemplate.creates?.tenant?.(input, { caller, newIds } as never);
    };
    for (const organizationId of [ids.partner, ids.customer]) {
      assert.deepEqual(tenantOf(organizationId), { organizationId, projectId: null, partnerId: organizationId });
    }
  });

  describe('input of create_template', () => {
    const of = inputOf(createTemplate, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.optional('description', undefined);
    of.text('description', { min: 0, max: 2000, orNull: true });
    of.ignoresUnknown();
  });
});
