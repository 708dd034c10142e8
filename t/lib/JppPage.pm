package JppPage;

# A page of the tool in a browser, with profiles of the test in place of the
# dump's.

use JppPerl;

use Exporter qw( import );
use JppBrowser;
use JppRun qw( $root slurp spew );
use JppTool qw( $dir run );
use MIME::Base64 qw( encode_base64 );

our @EXPORT = qw( $browser $page show );

our $browser = JppBrowser->start;

run('--any-kernel', '--format=html', '-o', "$dir/page.html",
    "$root/t/data/cxx-530.heap");

our $page = slurp("$dir/page.html");


# Opens the page of the profile BYTES, less BASE, and waits until it is drawn or
# says what is wrong.

sub show($bytes, $fragment = '', $base = undef) {
    my $blocks = block('profile', $bytes)
                 . (defined $base ? block('base', $base) : '');

    spew("$dir/shown.html",
         $page =~ s{<script type[^>]*id="profile">[^<]*</script>}{$blocks}r);
    $browser->show("file://$dir/shown.html#$fragment",
                   'return page.took
                           || document.getElementById("say").textContent');
}


sub block($id, $bytes) {
    return qq{<script type="application/octet-stream" id="$id">}
           . encode_base64($bytes, '') . '</script>';
}


1;
