/* Empty, because bool is a keyword of C++. */
