/*
 * Rows: what views add up.  A row is a stack under one set of labels, of the
 * profile, of the base, or of both: then it is the same memory, and what is in
 * both is no doubt of their difference.  Different processes have different
 * labels (pid), so that their rows never meet.
 */

/* The patterns of src/output/jpp_passing.c; a star is any characters. */
const PASSING = pattern(`
  ngx_alloc ngx_calloc ngx_memalign ngx_palloc* ngx_pnalloc ngx_pcalloc
  ngx_pmemalign ngx_pstrdup ngx_create_pool ngx_create_temp_buf
  ngx_create_chain_of_bufs ngx_alloc_chain_link ngx_chain_get_free_buf
  ngx_array_create ngx_array_push* ngx_list_create ngx_list_push
  ngx_pool_cleanup_add ngx_http_gzip_filter_alloc
  ngx_http_gunzip_filter_alloc ngx_regex_malloc njs_mp_alloc* njs_mp_zalloc*
  njs_mp_align njs_mp_zalign njs_malloc njs_memalign
  CRYPTO_*alloc CRYPTO_*dup OPENSSL_*alloc OPENSSL_*dup BUF_MEM_grow*
  BIO_strdup g_malloc* g_realloc* g_try_malloc* g_try_realloc*
  g_slice_alloc* g_strdup* g_strndup g_memdup* xmlMallocLoc xmlStrdup
  xmlStrndup zcalloc gdMalloc gdCalloc gdRealloc luaM_*alloc* lj_alloc_*
  lj_mem_* Perl_safesys*alloc
  malloc calloc realloc reallocarray memalign valloc pvalloc aligned_alloc
  posix_memalign str*dup __str*dup wcsdup asprintf vasprintf __vasprintf*
  operator?new* _Znw* _Zna* std::allocator<*::allocate*
  std::allocator_traits<*::allocate* std::__new_allocator<*::allocate*
  __gnu_cxx::new_allocator<*::allocate*`);

/* Those whose neighbours without a name are functions of pools, too. */
const POOL = pattern(`ngx_create_pool ngx_destroy_pool ngx_reset_pool
  ngx_palloc ngx_pnalloc ngx_pmemalign ngx_pfree ngx_pcalloc
  ngx_pool_cleanup_add ngx_pool_cleanup_file ngx_pool_delete_file
  ngx_pool_run_cleanup_file`);

const PASSES = 1, UNNAMED = 2;

function pattern(names) {
  return new RegExp(`^(?:${names.trim().replace(/[+.]/g, '\\$&')
    .replace(/\*/g, '.*').replace(/\?/g, ' ').replace(/\s*\n\s*/g, '|')
    .replace(/ (?!new)/g, '|')})$`, 's');
}

/* Does a function only pass memory on to its callers? */
function passing(name, file) {
  if (name.startsWith('0x') || name.includes('+0x')) {
    const near = /^(?:between .* and|before) (.*)$/.exec(file);
    return near && POOL.test(near[1]) ? PASSES : UNNAMED;
  }
  return PASSING.test(name.split(/[.@]/, 1)[0]) ? PASSES : 0;
}

/* The rows of the profile NOW and of BASE, which may be null. */
function makeRows(now, base) {
  const rows = {
    now, base, n: now.n,
    a: Int32Array.from({ length: now.n }, (_, i) => i), b: null,
  };
  if (base) pair(rows);
  return rows;
}

function pair(rows) {
  const { now, base } = rows;
  const a = new List(Int32Array), b = new List(Int32Array);
  const first = new Map(), next = new Int32Array(now.n).fill(-1);
  for (let i = now.n - 1; i >= 0; i--) {
    const hash = hashOf(now, i);
    if (first.has(hash)) next[i] = first.get(hash);
    first.set(hash, i);
    a.push(0);
    b.push(-1);
  }
  for (let i = 0; i < now.n; i++) a.items[i] = i;
  for (let k = 0; k < base.n; k++) {
    let i = first.get(hashOf(base, k));
    while (i >= 0 && (b.items[i] >= 0 || !isSame(now, i, base, k))) i = next[i];
    if (i >= 0) {
      b.items[i] = k;
    } else {
      a.push(-1);
      b.push(k);
    }
  }
  rows.n = a.n;
  rows.a = a.done();
  rows.b = b.done();
}

function hashOf(profile, i) {
  let hash = profile.sets[i];
  for (let k = profile.starts[i]; k < profile.starts[i + 1]; k++) {
    hash = Math.imul(hash ^ profile.path[k], 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function isSame(p, i, q, k) {
  const from = p.starts[i], other = q.starts[k], n = p.starts[i + 1] - from;
  if (p.sets[i] !== q.sets[k] || q.starts[k + 1] - other !== n) return false;
  for (let j = 0; j < n; j++) {
    if (p.path[from + j] !== q.path[other + j]) return false;
  }
  return true;
}

/*
 * What the numbers of a type rest on: things seen, and their doubt, which
 * jpp_error.c derives the variance from.  A sample of time is a count: its
 * doubt is all of it.  What was counted has none.
 */
function evidence(profile, t) {
  if (t < 0) return null;
  const { types, values, period } = profile, width = types.length;
  const find = (name) => types.findIndex((type) => type.name === name);
  const [kind] = types[t].name.split('_');
  const objects = find(`${kind}_objects`), space = find(`${kind}_space`);
  if (profile.isSpace && period > 1 && objects >= 0 && space >= 0) {
    return (i) => sampled(values[i * width + objects],
      values[i * width + space], period);
  }
  const samples = find('samples');
  if (samples < 0) return null;
  return (i) => [values[i * width + samples], values[i * width + samples]];
}

/*
 * An object is seen with the probability p = 1 - exp(-size / period), so that
 * n = objects * p were.  OBJECTS is rounded, BYTES is not: with n known, u =
 * size / period follows from bytes = n * size / p, and p once more from that.
 */
function sampled(objects, bytes, period) {
  if (!objects || !(bytes / objects > 0)) return [0, 0];
  const p = -Math.expm1(-bytes / objects / period);
  const n = Math.max(1, Math.round(Math.abs(objects) * p));
  const each = Math.abs(bytes) / period / n;
  let u = each;
  for (let i = 0; i < 6 && each > 1; i++) {
    u -= (u + each * Math.expm1(-u)) / (1 - each * Math.exp(-u));
  }
  const sign = Math.sign(objects);
  return [sign * n, sign * n * (each > 1 ? Math.exp(-u) : 1)];
}

/* The type of PROFILE that is named as type T of rows.now is; -1: none. */
function sameType(rows, profile, t) {
  if (!profile) return -1;
  return profile.types.findIndex((type) =>
    type.name === rows.now.types[t].name);
}

/* Sets of rows: value after and before, samples seen, variance of a change. */
function measure(rows, t) {
  const { n, now, base, a, b } = rows, of = sameType(rows, base, t);
  const m = {
    after: new Float64Array(n), before: base ? new Float64Array(n) : null,
    seen: new Float32Array(n), variance: new Float32Array(n), isExact: true,
    isSigned: false,
  };
  const knowA = evidence(now, t), knowB = base ? evidence(base, of) : null;
  m.isExact = !knowA && !knowB;
  for (let i = 0; i < n; i++) {
    let value = 0, seen = 0, unsure = 0;
    if (a[i] >= 0) {
      value = m.after[i] = now.values[a[i] * now.types.length + t];
      if (value < 0) m.isSigned = true;
      if (knowA) [seen, unsure] = knowA(a[i]);
      m.seen[i] = Math.abs(seen);
    }
    if (b && b[i] >= 0 && of >= 0) {
      m.before[i] = base.values[b[i] * base.types.length + of];
      value -= m.before[i];
      const [s, d] = knowB ? knowB(b[i]) : [0, 0];
      if (a[i] < 0) m.seen[i] = s;
      seen -= s;
      unsure -= d;
    }
    seen = Math.max(1, Math.abs(seen));
    m.variance[i] = (value / seen) ** 2 * Math.min(seen, Math.abs(unsure));
  }
  return m;
}

/*
 * Which frames of row I a view shows: CHOICE says.  Fills OUT, leaf first, and
 * returns how many; -1: the row is left out.
 */
function choose(rows, i, choice, out) {
  const isNow = rows.a[i] >= 0, profile = isNow ? rows.now : rows.base;
  const sample = isNow ? rows.a[i] : rows.b[i];
  if (!choice.sets[profile.sets[sample]]) return -1;
  const { path } = profile, end = profile.starts[sample + 1];
  let from = profile.starts[sample], stop = end, n = 0;
  let isFocused = !choice.focus;
  for (let k = from; k < end; k++) {
    const frame = path[k];
    if (choice.ignore && choice.ignore[frame]) return -1;
    if (choice.focus && choice.focus[frame]) isFocused = true;
    if (choice.from && choice.from[frame]) stop = k + 1;
  }
  if (!isFocused || (choice.from && stop === end
      && !(end > from && choice.from[path[end - 1]]))) return -1;
  if (choice.skip) from = skipPassing(path, from, end);
  for (let k = from; k < stop; k++) {
    if (!choice.hide || !choice.hide[path[k]]) out[n++] = path[k];
  }
  return n;
}

/* As jpp_passing_skip(): a stack of nothing else keeps its outermost one. */
function skipPassing(path, leaf, end) {
  let from = leaf, last = leaf;
  for (let k = leaf; k < end; k++) {
    const kind = frames.passes[path[k]];
    if (kind === 0 || (kind === UNNAMED && from === leaf)) break;
    if (kind === PASSES) {
      from = k + 1;
      last = k;
    }
  }
  return from < end ? from : last;
}
