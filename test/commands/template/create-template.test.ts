import assert from 'node:assert/strict';
import { createTemplate } from '#commands/template/create-template.ts';
import { newEvent } from '#domain/shared/event.ts';
import { callerOf, fresh, ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { name: 'Dental practice', description: 'Front desk of a practice' };
const created = (headlessIntegratorId: string, description: string | null = input.description) =>
  newEvent('TemplateCreated', { id: fresh.id, headlessIntegratorId, name: input.name, description });

describe('create_template', () => {
  it("creates one of the key's own organization, an admin's too", () => {
    for (const keyType of ['partner', 'admin'] as const) {
      for (const organizationId of [ids.partner, ids.stranger]) {
        const caller = callerOf(keyType, { organizationId });
        givenHistory().when(createTemplate, input, { caller }).then(created(organizationId));
      }
    }
  });

  it('has no description when none is given, or null', () => {
    for (const body of [{ name: input.name }, { name: input.name, description: null }]) {
      givenHistory()
        .when(createTemplate, body, { caller: callerOf('partner') })
        .then(created(ids.partner, null));
    }
  });

  it('belongs to the organization as a whole, and not to the partner whose customer that is', () => {
    const tenantOf = (organizationId: string) => {
      const caller = callerOf('admin', { organizationId, partnerId: ids.partner });
      return createTemplate.tenant?.(input, { caller, fresh } as never);
    };
    for (const organizationId of [ids.partner, ids.customer]) {
      assert.deepEqual(tenantOf(organizationId), { organizationId, projectId: null, partnerId: organizationId });
    }
  });

  describe('input', () => {
    const of = inputOf(createTemplate, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.optional('description', undefined);
    of.text('description', { min: 0, max: 2000, orNull: true });
    of.ignoresUnknown();
  });
});
