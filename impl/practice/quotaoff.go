package practice

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// QuotaEnabledSite is the unlocked read of whether quotas are on.
var QuotaEnabledSite = kernel.DataRaceSite("quota-enabled", "who sees them on too long is waited for by the commit, or looks again under the lock")

func quotaOff() scenario.Race {
	return scenario.Race{
		Name:  "quota-off",
		Title: "quotas are switched off, and their memory is freed without a lock",
		Question: "Whoever accounts holds a transaction open, and what they use is freed after the commit: is a reported race " +
			"on it a false alert? And what of a rescan, which holds no transaction open?",
		Sites: []*kernel.RaceSite{QuotaEnabledSite},
		Scenarios: []scenario.Scenario{{
			Name:   "account",
			About:  "a change is accounted, in a transaction, while quotas are switched off; the group and the pointer to it are plain memory, and not annotated: they may never race",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "takes the lock for each access too", accountQuota(quotaForm{lockedUse: true, lockedFree: true})),
				candidate("handle-only", scenario.Indistinguishable, "relies on the transaction, which the commit waits for", accountQuota(quotaForm{})),
				planted("no-flag", "does not look whether quotas are on: a transaction after the commit finds what is being freed", accountQuota(quotaForm{noFlag: true})),
				planted("no-handle", "accounts outside of any transaction", accountQuota(quotaForm{noHandle: true})),
				planted("no-commit", "frees without waiting for a commit", accountQuota(quotaForm{noCommit: true})),
			},
		}, {
			Name:   "rescan",
			About:  "a rescan is asked for, outside of any transaction, while quotas are switched off",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "takes the lock for each access", rescanQuota(quotaForm{lockedUse: true, lockedFree: true})),
				candidate("peeks", scenario.Indistinguishable, "gives up early if quotas look switched off, and looks again under the lock", rescanQuota(quotaForm{lockedFree: true})),
				planted("as-reported", "frees after a commit, and without the lock", rescanQuota(quotaForm{})),
				planted("no-recheck", "does not look again under the lock", rescanQuota(quotaForm{lockedFree: true, noRecheck: true})),
			},
		}},
	}
}

// quotaForm says what protects the group.
type quotaForm struct{ lockedUse, lockedFree, noHandle, noFlag, noCommit, noRecheck bool }

// quotas are on until somebody switches them off.
type quotas struct {
	kernel.Object
	handles kernel.RWSem // shared by who holds a transaction open; a commit is alone
	lock    kernel.SpinLock
	enabled kernel.Word[int]
	group   kernel.Pointer[quotaGroup]
	form    quotaForm
}

// quotaGroup counts what somebody uses.
type quotaGroup struct {
	kernel.Object
	used kernel.Word[int]
}

func newQuotas(setup *kernel.Task, form quotaForm) *quotas {
	g := &quotaGroup{}
	g.Init(setup, "quota group", g)
	g.used.Init(&g.Object, "used", 1)
	q := &quotas{form: form}
	q.Init(setup, "quotas", q)
	q.handles.Init(&q.Object, "handles")
	q.lock.Init(&q.Object, "lock")
	q.enabled.Init(&q.Object, "enabled", 1)
	q.group.Init(&q.Object, "group", g)
	return q
}

func accountQuota(form quotaForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		q := newQuotas(setup, form)
		return q.instance(task("writer", operation("account", q.account)), kernel.Plain)
	}
}

func rescanQuota(form quotaForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		q := newQuotas(setup, form)
		return q.instance(task("rescan", operation("rescan", q.rescan)), kernel.Once)
	}
}

func (q *quotas) instance(user scenario.Task, order kernel.Order) *scenario.Instance {
	return &scenario.Instance{
		Tasks: []scenario.Task{user, task("administrator", operation("switch off", func(t *kernel.Task) string { return q.switchOff(t, order) }))},
		Check: func(t *kernel.Task) error {
			t.Assert(q.group.Load(t, kernel.Once) == nil, "quotas are off, and there is a group")
			return nil
		},
		Teardown: q.Free,
	}
}

// guarded runs f under the lock, if the form has it so.
func (q *quotas) guarded(t *kernel.Task, locked bool, f func() string) string {
	if locked {
		q.lock.Lock(t)
		defer q.lock.Unlock(t)
	}
	return f()
}

// account adds to a group in a transaction.
func (q *quotas) account(t *kernel.Task) string {
	if !q.form.noHandle {
		q.handles.RLock(t)
		defer q.handles.RUnlock(t)
	}
	if !q.form.lockedUse && !q.form.noFlag && q.enabled.LoadRacy(t, kernel.Once, QuotaEnabledSite) == 0 {
		return "off"
	}
	return q.guarded(t, q.form.lockedUse, func() string {
		g := q.group.Load(t, kernel.Plain)
		if g == nil {
			return "off"
		}
		g.used.Store(t, kernel.Plain, g.used.Load(t, kernel.Plain)+1)
		return "accounted"
	})
}

// rescan begins to count anew.
func (q *quotas) rescan(t *kernel.Task) string {
	if !q.form.lockedUse && q.enabled.LoadRacy(t, kernel.Once, QuotaEnabledSite) == 0 {
		return "off"
	}
	return q.guarded(t, true, func() string {
		g := q.group.Load(t, kernel.Once)
		if g == nil && !q.form.noRecheck {
			return "off"
		}
		g.used.Store(t, kernel.Once, 0)
		return "begun"
	})
}

// switchOff says so, waits for the commit, and frees the group.
func (q *quotas) switchOff(t *kernel.Task, order kernel.Order) string {
	q.lock.Lock(t)
	q.enabled.StoreRacy(t, kernel.Once, 0, QuotaEnabledSite)
	q.lock.Unlock(t)
	if !q.form.noCommit {
		q.handles.Lock(t)
		q.handles.Unlock(t)
	}
	var g *quotaGroup
	q.guarded(t, q.form.lockedFree, func() string {
		g = q.group.Load(t, order)
		q.group.Store(t, order, nil)
		return ""
	})
	g.Free(t)
	return "off"
}
