/** The figures of analytics by tenant, customer, endpoint, provider, model and day, summed from the rows themselves. */
const KEY = `j.tenant_id AS tenant, j.customer_id AS customer, j.endpoint, s.provider, s.provider_model AS model,
  to_char(o.settled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`;
const FROM_OUTCOMES = `FROM item_outcomes o
  JOIN batch_jobs j ON j.job_id = o.job_id AND j.bucket = o.bucket
  JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
  JOIN batch_items i ON i.job_id = o.job_id AND i.bucket = o.bucket AND i.item_no = o.item_no`;
const STATES = `count(*) FILTER (WHERE o.state = 2)::int AS completed, count(*) FILTER (WHERE o.state = 3)::int AS failed,
  count(*) FILTER (WHERE o.state = 4)::int AS expired, count(*) FILTER (WHERE o.state = 5)::int AS cancelled`;
const IS_OPEN = 'j.completed_at IS NULL';

export const GROUPS = ['tenant', 'customer', 'endpoint', 'provider', 'model', 'day'] as const;

export const RECOMPUTED = {
  items: `SELECT ${KEY}, ${STATES}, 0 AS pending, count(*) FILTER (WHERE i.retry_of_item_id IS NOT NULL)::int AS retries
    ${FROM_OUTCOMES} GROUP BY 1, 2, 3, 4, 5, 6
    UNION ALL
    SELECT j.tenant_id, j.customer_id, j.endpoint, 'openai', 'gpt-4o-mini', NULL, 0, 0, 0, 0, count(*)::int, 0
    FROM batch_items i JOIN batch_jobs j ON j.job_id = i.job_id AND j.bucket = i.bucket
    WHERE i.state = 0 AND ${IS_OPEN} GROUP BY 1, 2, 3`,
  tokens: `SELECT ${KEY}, count(*)::int AS items, count(*) FILTER (WHERE o.usage_estimated)::int AS usage_estimated_items,
      sum(o.input_tokens)::int AS input_tokens, sum(o.cached_input_tokens)::int AS cached_input_tokens,
      sum(o.cache_write_tokens)::int AS cache_write_tokens, sum(o.output_tokens)::int AS output_tokens,
      sum(o.reasoning_tokens)::int AS reasoning_tokens
    ${FROM_OUTCOMES} GROUP BY 1, 2, 3, 4, 5, 6`,
  retries: `SELECT ${KEY}, count(*)::int AS retries, ${STATES}
    ${FROM_OUTCOMES} WHERE i.retry_of_item_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6`,
  failures: `SELECT ${KEY}, o.failure_class AS "failureClass", o.error_code AS code, count(*)::int AS items
    ${FROM_OUTCOMES} WHERE o.error_code <> '' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`,
} as const;

/** Money of each tenant: exact, as text. Corrections of the job as a whole have no item. */
export const RECOMPUTED_COSTS = `
  SELECT j.tenant_id AS tenant, sum(charges.amount - corrections.refunded + corrections.adjusted) AS settled,
    sum(corrections.refunded) AS refunded, sum(corrections.adjusted) AS adjusted,
    sum(CASE WHEN ${IS_OPEN} THEN h.amount - h.drawn ELSE 0 END) AS held,
    count(*) FILTER (WHERE NOT ${IS_OPEN})::int AS ended_jobs,
    coalesce(sum(j.estimated_amount) FILTER (WHERE NOT ${IS_OPEN}), 0) AS estimated,
    coalesce(sum(charges.amount - corrections.refunded + corrections.adjusted) FILTER (WHERE NOT ${IS_OPEN}), 0) AS ended_settled,
    sum(charges.customer_amount - corrections.customer_refunded
      + CASE WHEN j.customer_pricing IS NULL THEN corrections.adjusted ELSE 0 END) AS customer_settled
  FROM batch_jobs j
  JOIN holds h ON h.job_id = j.job_id AND h.scope = 'tenant' AND h.period = 'total'
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0) AS amount, coalesce(sum(coalesce(customer_amount, amount)), 0) AS customer_amount
    FROM item_outcomes WHERE job_id = j.job_id AND bucket = j.bucket
  ) charges
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount) FILTER (WHERE e.event = 'batch.item.refunded'), 0) AS refunded,
      coalesce(sum(e.amount) FILTER (WHERE e.event = 'batch.adjusted' AND e.account = 'tenant'), 0) AS adjusted,
      coalesce(sum(customer_share(coalesce(o.customer_amount, o.amount), e.amount, o.amount)) FILTER (WHERE e.event = 'batch.item.refunded'), 0)
        AS customer_refunded
    FROM ledger_entries e
    LEFT JOIN item_outcomes o ON o.job_id = e.subject_id AND o.bucket = e.bucket AND o.item_no = e.item_no
    WHERE e.subject_id = j.job_id AND e.bucket = j.bucket
  ) corrections
  GROUP BY 1`;
