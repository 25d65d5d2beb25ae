import { z } from 'zod';
import { NextCursor } from './pagination.ts';
import { plainText, Timestamp } from './text.ts';

const MAX_NAME_LENGTH = 200;
const OWN_ID = /^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/;

/** An id that its owner chose, for a tenant, project or customer. */
export function ownId(what: string, example: string) {
  return z
    .string()
    .regex(OWN_ID, 'must be 1 to 64 letters, digits, ".", "_" or "-", the first of them a letter or digit')
    .optional()
    .meta({
      description:
        `The ${what}’s id, where it shall be one of your own: 1 to 64 ASCII letters, digits, \`.\`, \`_\` and \`-\`, the first ` +
        'of them a letter or digit. Else one is made. It cannot be changed.',
      example,
    });
}

export const AccountName = plainText(MAX_NAME_LENGTH).meta({ description: 'For people.', example: 'Acme' });

/** What a suspension shows of itself. */
export const SUSPENSION_FIELDS = {
  suspended_at: Timestamp.nullable().meta({ description: 'Nothing new starts while this is set.' }),
  suspension_reason: z.string().nullable(),
  suspended_by: z.string().nullable().meta({ description: 'The id of the admin’s key.' }),
};

export const SuspendAccount = z
  .strictObject({
    reason: plainText(500).meta({
      description: 'Why. Whoever is refused is told it.',
      example: 'Invoice 4711 is due.',
    }),
  })
  .meta({ id: 'SuspendAccount' });
export type SuspendAccount = z.infer<typeof SuspendAccount>;

const ProjectId = z.string().meta({ description: 'A project’s id.', example: 'proj_web' });

export const Project = z
  .object({ project_id: ProjectId, tenant_id: z.string(), name: z.string(), created_at: Timestamp })
  .meta({ id: 'Project' });
export type Project = z.infer<typeof Project>;

export const ProjectList = z.object({ data: z.array(Project), next_cursor: NextCursor }).meta({ id: 'ProjectList' });
export type ProjectList = z.infer<typeof ProjectList>;

export const CreateProject = z
  .strictObject({ project_id: ownId('project', 'web'), name: AccountName })
  .meta({ id: 'CreateProject' });
export type CreateProject = z.infer<typeof CreateProject>;

export const RenameAccount = z.strictObject({ name: AccountName }).meta({ id: 'RenameAccount' });
export type RenameAccount = z.infer<typeof RenameAccount>;

const CustomerId = z.string().meta({ description: 'A customer’s id.', example: 'cust_123' });

export const Customer = z
  .object({
    customer_id: CustomerId,
    tenant_id: z.string(),
    name: z.string(),
    ...SUSPENSION_FIELDS,
    created_at: Timestamp,
  })
  .meta({ id: 'Customer' });
export type Customer = z.infer<typeof Customer>;

export const CustomerList = z.object({ data: z.array(Customer), next_cursor: NextCursor }).meta({ id: 'CustomerList' });
export type CustomerList = z.infer<typeof CustomerList>;

export const CreateCustomer = z
  .strictObject({ customer_id: ownId('customer', 'cust_123'), name: AccountName })
  .meta({ id: 'CreateCustomer' });
export type CreateCustomer = z.infer<typeof CreateCustomer>;
