import { type Amount, formatNumeric } from '../../domain/money.ts';

/** A budget as the model keeps it: what each of its periods holds and has settled. */
export interface ModelBudget {
  readonly scope: 'tenant' | 'project' | 'customer';
  readonly period: 'total' | 'month';
  limit: Amount;
}

export interface ModelJob {
  readonly jobId: string;
  /** Whether it belongs to the project and the customer. */
  readonly ofProject: boolean;
  readonly ofCustomer: boolean;
  state: 'draft' | 'running' | 'ended';
  items: number;
  /** First day of the month it was accepted in. */
  month: string;
  reserved: Amount;
  /** The charge of each item that has one, by number. */
  readonly charges: Map<number, Amount>;
}

const ALERTS = [80, 100];

/** What the gateway's accounts should say after each step, computed in the plainest way from the jobs alone. */
export class MoneyModel {
  readonly budgets: ModelBudget[];
  readonly jobs: ModelJob[] = [];
  /** As `budget/period/percent`. */
  readonly alerts = new Set<string>();
  #before = new Map<string, Amount>();

  constructor(budgets: readonly ModelBudget[]) {
    this.budgets = budgets.map((budget) => ({ ...budget }));
  }

  settledOf({ charges }: ModelJob): Amount {
    return [...charges.values()].reduce((sum, charge) => sum + charge, 0n);
  }

  heldOf(job: ModelJob): Amount {
    const left = job.reserved - this.settledOf(job);
    return job.state === 'running' && left > 0n ? left : 0n;
  }

  applies(budget: ModelBudget, job: ModelJob): boolean {
    if (budget.scope === 'tenant') return true;
    return budget.scope === 'project' ? job.ofProject : job.ofCustomer;
  }

  startOf(budget: ModelBudget, month: string): string {
    return budget.period === 'month' ? month : '1970-01-01';
  }

  /** By `budget index/period start`, of all that any job was accepted in. */
  accounts(): Map<string, { held: Amount; settled: Amount }> {
    const accounts = new Map<string, { held: Amount; settled: Amount }>();
    for (const job of this.jobs.filter(({ state }) => state !== 'draft')) {
      for (const [index, budget] of this.budgets.entries()) {
        if (!this.applies(budget, job)) continue;
        const key = `${index}/${this.startOf(budget, job.month)}`;
        const { held, settled } = accounts.get(key) ?? { held: 0n, settled: 0n };
        accounts.set(key, { held: held + this.heldOf(job), settled: settled + this.settledOf(job) });
      }
    }
    return accounts;
  }

  /** Whether a hold fits what is left of every budget of the job. */
  fits(job: ModelJob, hold: Amount, month: string): boolean {
    const accounts = this.accounts();
    return this.budgets.every((budget, index) => {
      if (!this.applies(budget, job)) return true;
      const { held, settled } = accounts.get(`${index}/${this.startOf(budget, month)}`) ?? { held: 0n, settled: 0n };
      return hold <= budget.limit - held - settled;
    });
  }

  /** Notes what was reached by the step that has just been made: only where held and settled have grown by it. */
  noteAlerts(): void {
    const now = new Map<string, Amount>();
    for (const [key, { held, settled }] of this.accounts()) {
      const limit = this.budgets[Number(key.split('/')[0])]?.limit ?? 0n;
      const committed = held + settled;
      now.set(key, committed);
      if (committed <= (this.#before.get(key) ?? 0n)) continue;
      for (const percent of ALERTS) {
        if (committed * 100n >= limit * BigInt(percent)) this.alerts.add(`${key}/${percent}`);
      }
    }
    this.#before = now;
  }

  /** The accounts in the form of rows of `budget_periods`, in order. */
  rows(): string[] {
    return [...this.accounts()]
      .map(([key, { held, settled }]) => `${key} ${formatNumeric(held)} ${formatNumeric(settled)}`)
      .sort();
  }
}
