# What other modules must not do to an answer: compress it again, make it
# cacheable, or recode it.

use JppTest;

my $brotli = modules('ngx_http_brotli_filter_module');

# all filters of nginx itself
my $filters = <<'END';
gzip on;
gzip_types *;
gzip_min_length 1;
gzip_proxied any;
gzip_vary on;
gunzip on;
expires max;
charset koi8-r;
override_charset on;
source_charset windows-1251;
charset_types *;
charset_map windows-1251 koi8-r { 80 E1; }
END

# path, status, and what only a complete body has
my @answers = (
    [ '/a/heap', 200, qr/^types: /, \&contract ],
    [ '/a/heap?format=text', 200, qr/^heap profile: / ],
    [ '/a/heap?format=top', 200, qr/inuse_space/ ],
    [ '/a/heap?format=jemalloc&worker=self', 200, qr/^heap_v2/ ],
    [ '/a/status', 200, qr/"workers"/ ],
    [ '/a/', 200, qr/<\/html>\n\z/ ],
    [ '/a/symbol', 200, qr/^num_symbols/ ],
    [ '/a/cmdline', 200, qr/nginx/ ],
    [ '/a/none', 404, qr/no such resource/ ],
    [ '/a/control', 405, qr/not allowed/ ],
);

test 'those of nginx' => sub { filtered(http => $filters) };

test 'brotli', sub { $brotli } => sub {
    filtered(main => $brotli, http => "$filters brotli on; brotli_types *;
                                       brotli_min_length 1;");
};


sub filtered(%how) {
    my $nginx = JppNginx->start(%how, server => <<'END');
location /a/ { jemalloc_pprof; }
location /plain { default_type text/plain; return 200 "plain plain plain"; }
END

    # the filters are on: another answer is changed

    my $accept = "Accept-Encoding: br, gzip\r\n";
    my $plain = $nginx->get('/plain', headers => $accept);

    is($plain->{headers}{'content-encoding'}, $how{main} ? 'br' : 'gzip',
       'another answer is compressed');
    like($plain->{headers}{'cache-control'}, qr/^max-age=\d+$/,
         'and may be cached');

    for (@answers) {
        my ($uri, $status, $like, $filter) = @$_;

        my $answer = $nginx->get($uri, headers => $accept);
        my $body = $answer->{body};

        is($answer->{status}, $status, $uri);
        is($answer->{headers}{'content-encoding'}, undef, 'not compressed');
        is($answer->{headers}{vary}, undef, 'no Vary');
        is($answer->{headers}{'cache-control'}, 'no-store', 'not cacheable');
        is($answer->{headers}{expires}, undef, 'no Expires');
        is($answer->{headers}{'content-length'}, length $body, 'its length');
        unlike($answer->{headers}{'content-type'}, qr/koi8/, 'its charset');
        like($filter ? $filter->($body) : $body, $like, 'complete');
    }
}
